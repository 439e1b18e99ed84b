// Administration without a mouse: one act on each page, from the command palette on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { inBrowser, serveConsole } from '../support/console.ts'
import { tabTo } from '../support/hands.ts'
import { quickStorage } from '../support/storage.ts'
import { allowPrivate } from '../support/webhook-receiver.ts'

async function press(page: Page, button: string): Promise<void> {
  await tabTo(page, page.getByRole('button', { name: button, exact: true }).last())
  await page.keyboard.press('Enter')
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByRole('dialog').getByLabel(label).first())
  await page.keyboard.type(text)
}

async function go(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command' }).waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

test('on every page of administration something is done by the keyboard alone', inBrowser, async t => {
  const served = await serveConsole(t, { env: allowPrivate })
  quickStorage(t, served)
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/admin' })
  await page.getByText('Being idle does not end it.').waitFor()

  await go(page, 'Scheduled tasks')
  await press(page, 'Pause balance')
  await said(page, 'balance is paused')

  await go(page, 'Roles')
  await press(page, 'Create a role')
  await type(page, 'Name', 'desk')
  await tabTo(page, page.getByLabel('billing:read'))
  await page.keyboard.press('Space')
  await press(page, 'Create')
  await said(page, 'desk is created')

  await go(page, 'Users')
  await press(page, 'Add a user')
  await type(page, 'User', 'grace')
  await type(page, 'Tenant', 'acme')
  await page.keyboard.press('Enter')
  await said(page, 'grace is added')

  await go(page, 'Invitations')
  await press(page, 'Invite somebody')
  await type(page, 'E-mail', 'grace@acme.example')
  await type(page, 'Tenant', 'acme')
  await page.keyboard.press('Enter')
  await page.getByLabel('Invitation’s token').waitFor()
  await page.keyboard.press('Escape')
  await press(page, 'Revoke that of grace@acme.example')
  await type(page, 'Type grace@acme.example', 'grace@acme.example')
  await page.keyboard.press('Enter')
  await said(page, 'The invitation of grace@acme.example is revoked')

  await go(page, 'API keys')
  await press(page, 'Create a key')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await press(page, 'Create a key')
  await type(page, 'Description', 'mine')
  await page.keyboard.press('Enter')
  await page.getByLabel('API key', { exact: true }).waitFor()
  await press(page, 'Done')

  await go(page, 'Secrets')
  await press(page, 'Create a secret')
  await type(page, 'Name', 'mail/password')
  await type(page, 'Value', 'sesame')
  await press(page, 'Create')
  await said(page, 'mail/password has version 1')

  await go(page, 'Webhooks')
  await press(page, 'Create a webhook')
  await type(page, 'URL', `${served.url}/hook`)
  await page.keyboard.press('Enter')
  await page.getByLabel('Secret', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await tabTo(page, page.getByRole('link', { name: `${served.url}/hook` }))
  await page.keyboard.press('Enter')
  await press(page, 'Send a test')
  await tabTo(page, page.getByRole('link', { name: 'webhook.test' }))
  await page.keyboard.press('Enter')
  await press(page, 'Replay')
  await said(page, 'It is sent once more')

  await go(page, 'Storage backends')
  await press(page, 'Add a backend')
  await type(page, 'Name', 'disk')
  await type(page, 'Folder', 'invoices')
  await page.keyboard.press('Enter')
  await press(page, 'Activate disk')
  await said(page, 'Files are kept in disk from now on')

  await go(page, 'Audit log')
  await page.keyboard.press('/')
  await page.keyboard.type('ada')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?actor=ada$/)
  await tabTo(page, page.getByRole('row').nth(1).getByRole('link'))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'activateStorageBackend by ada', level: 1 }).waitFor()

  await go(page, 'Checkpoints')
  await press(page, 'Verify the log')
  await page.getByRole('region', { name: 'Result' }).getByText('intact').waitFor()
})

test(
  'on a page without a search a slash opens the commands, which an arrow walks and a typed id leads by',
  inBrowser,
  async t => {
    const { open, tokens, call } = await serveConsole(t)
    const { page } = await open({ token: await tokens.admin(), path: '/admin/roles' })
    await page.getByRole('row').nth(1).waitFor()
    await page.keyboard.press('/')
    const commands = page.getByRole('listbox', { name: 'Commands' })
    await commands.waitFor()
    const count = await commands.getByRole('option').count()
    for (let presses = 1; presses < count; presses++) await page.keyboard.press('ArrowDown')
    const last = commands.getByRole('option', { selected: true })
    assert.equal(await last.innerText(), 'Sign out')
    const [option, list] = [await last.boundingBox(), await commands.boundingBox()]
    assert.ok(option!.y + option!.height <= list!.y + list!.height + 1, 'it is scrolled to')
    const { body } = await call('GET', '/api/v1/admin/audit_log')
    await page.keyboard.type(body.data[0].id)
    const found = await commands.getByRole('option').allInnerTexts()
    assert.ok(found.includes(`Open the resource ${body.data[0].id}`))
    await commands.getByText('Open the audit entry').click()
    await page.getByRole('heading', { name: 'startSession by ada', level: 1 }).waitFor()
  },
)
