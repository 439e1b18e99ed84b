// Who may come in, and who is told: users, roles, invitations, API keys, secrets and webhooks in the console, for a
// platform_admin, for an operator with some permissions, and for a member of a tenant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { allowPrivate, receiver, webhook } from '../support/webhook-receiver.ts'

const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link')

/** Fills fields by their labels. */
async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values))
    await page.getByRole('dialog').getByLabel(label, { exact: false }).first().fill(value)
}

/** Types what is to be destroyed, and destroys it. */
async function confirm(page: Page, name: string, act: string): Promise<void> {
  await page.getByLabel(`Type ${name} to confirm`).fill(name)
  await page.getByRole('dialog').getByRole('button', { name: act }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('a role is made and changed, users get it, are suspended and removed', inBrowser, async t => {
  const { open, tokens, call } = await serveConsole(t)
  const { page, complaints } = await open({ token: await tokens.admin(), path: '/admin/roles' })
  await page.getByRole('button', { name: 'Create a role' }).click()
  await fill(page, { Name: 'Night Desk', Description: 'At night' })
  await page.getByLabel('billing:read').check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('alert').getByText('/name').waitFor()
  await assertAccessible(page)
  await fill(page, { Name: 'desk' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await said(page, 'desk is created')
  await page.getByRole('button', { name: 'Edit desk' }).click()
  await page.getByLabel('billing:read').uncheck()
  await page.getByLabel('sagas:read').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await row(page, 'desk').getByText('sagas:read').waitFor()

  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByRole('button', { name: 'Add a user' }).click()
  await fill(page, { User: 'grace', Tenant: 'acme', 'E-mail': 'grace@acme.example' })
  await page.getByLabel('Role').last().selectOption('desk')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Suspend grace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await row(page, 'grace').getByText('suspended').waitFor()
  const token = await tokens.tenant('acme', { sub: 'grace' })
  assert.equal((await call('GET', '/api/v1/session', { token })).status, 403)
  await page.getByRole('button', { name: 'Activate grace' }).click()
  await said(page, 'grace is active')
  await page.getByRole('button', { name: 'Edit grace' }).click()
  assert.equal(await page.getByRole('dialog').getByLabel('Role').inputValue(), 'desk')
  await page.getByRole('dialog').getByLabel('Role').selectOption('')
  await fill(page, { Name: 'Grace Hopper' })
  await page.getByRole('button', { name: 'Save' }).click()
  await row(page, 'Grace Hopper').waitFor()
  await page.getByLabel('E-mail (exact)').fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('?email').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: 'Remove grace' }).click()
  await confirm(page, 'grace', 'Remove')
  await page.getByText('Nobody matches.').waitFor()
  await page.getByRole('link', { name: 'Roles' }).click()
  await page.getByRole('button', { name: 'Delete desk' }).click()
  await confirm(page, 'desk', 'Delete')
  await row(page, 'desk').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('what is shown once works, is copied, and is nowhere on the page afterwards', inBrowser, async t => {
  const { open, tokens, call } = await serveConsole(t)
  const { page } = await open({
    token: await tokens.admin(),
    path: '/admin/invitations',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.getByRole('button', { name: 'Invite somebody' }).click()
  await fill(page, { 'E-mail': 'grace@acme.example', Tenant: 'acme' })
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const invitation = await page.getByLabel('Invitation’s token').inputValue()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Copy' }).click()
  await said(page, 'Copied')
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), invitation)
  await page.getByRole('button', { name: 'Done' }).click()
  assert.ok(!(await page.content()).includes(invitation))
  const token = await tokens.tenant('acme', { sub: 'grace' })
  const { page: theirs } = await open({ token, path: '/admin' })
  await theirs.getByLabel('Invitation’s token').fill(invitation)
  await theirs.getByRole('button', { name: 'Accept' }).click()
  await said(theirs, 'You are a user of acme now')
  await page.reload()
  await row(page, 'grace@acme.example').getByText('accepted').waitFor()

  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByLabel('User').fill('grace')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'API keys of grace' }).waitFor()
  await page.getByRole('button', { name: 'Create a key' }).click()
  await fill(page, { Description: 'nightly export', Tenant: 'acme' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const key = await page.getByLabel('API key', { exact: true }).inputValue()
  assert.equal((await call('GET', '/api/v1/session', { token: key })).body.data.sub, 'grace')
  await page.keyboard.press('Escape')
  await row(page, 'nightly export').getByRole('button', { name: 'Revoke' }).click()
  await fill(page, { Reason: 'it was shown on a slide' })
  const { body } = await call('GET', '/api/v1/users/grace/api_keys')
  await confirm(page, body.data[0].key_prefix, 'Revoke')
  await row(page, 'revoked').waitFor()
  assert.equal((await call('GET', '/api/v1/session', { token: key })).status, 401)

  await page.getByRole('link', { name: 'Secrets' }).click()
  for (const [button, act, value] of [
    ['Create a secret', 'Create', 'first'],
    ['Replace mail/password', 'Replace', 'second'],
  ] as const) {
    await page.getByRole('button', { name: button }).click()
    await fill(page, { ...(act === 'Create' && { Name: 'mail/password' }), Value: `${value}-value` })
    await page.getByRole('dialog').getByRole('button', { name: act }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await said(page, 'mail/password has version 2')
  await page.getByRole('button', { name: 'As curl' }).click()
  await page.getByRole('group', { name: 'Commands' }).getByText('$SECRET').waitFor()
  assert.ok(!/(first|second)-value/.test(await page.content()))
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete mail/password' }).click()
  await confirm(page, 'mail/password', 'Delete')
  await page.getByText('provider_token/<queue>').waitFor()
})

test('a webhook’s deliveries show each attempt and its answer, and are replayed', inBrowser, async t => {
  const served = await serveConsole(t, { env: allowPrivate })
  const it = await receiver(t)
  it.answer = 500
  const { id } = await webhook(served, { url: it.url, description: 'Slack bridge' })
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/admin/webhooks' })
  await page.getByRole('link', { name: it.url }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await said(page, 'A test event is on its way')
  await deliverDue(served.ctx)
  await page.getByRole('link', { name: 'webhook.test' }).click()
  const attempts = page.getByRole('list', { name: 'Attempts, in order' })
  await attempts.getByText('Answered 500').waitFor()
  await attempts.getByText('so be it').waitFor()
  await assertAccessible(page)
  it.answer = 200
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('None yet.').waitFor()
  await deliverDue(served.ctx)
  await page.reload()
  await attempts.getByText('Answered 200').waitFor()
  await page.getByRole('link', { name: id }).click()
  await page.getByLabel('Status').selectOption('delivered')
  await page.waitForURL(/\?status=delivered$/)
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  assert.match(await page.getByLabel('Secret', { exact: true }).inputValue(), /^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  assert.equal(await page.getByLabel('*', { exact: true }).isChecked(), true)
  await page.getByLabel('Switched on').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('off', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await confirm(page, it.url, 'Delete')
  await page.getByText('There is none. One is told of').waitFor()
})

test(
  'a member has keys and webhooks of its own, and sees nothing of what is the platform’s',
  inBrowser,
  async t => {
    const served = await serveConsole(t, { env: allowPrivate })
    const it = await receiver(t)
    await webhook(served, { url: `${it.url}?platform` })
    const token = await served.tokens.tenant('acme')
    const { page } = await served.open({ token, path: '/admin', viewport: { width: 390, height: 800 } })
    await page.getByText('Being idle does not end it.').waitFor()
    await assertAccessible(page)
    const names = await pages(page).allInnerTexts()
    assert.deepEqual(names.slice(names.indexOf('Administration')), ['Administration', 'API keys', 'Webhooks'])
    await pages(page).getByText('Webhooks').click()
    await page.getByText('There is none. One is told of').waitFor()
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    assert.equal(await page.getByLabel('invoice.*').count(), 0, 'tenants are not told of invoices')
    await fill(page, { URL: it.url })
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: it.url }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('link', { name: 'webhook.test' }).waitFor()
    await pages(page).getByText('API keys').click()
    await page.getByRole('heading', { name: 'Your API keys' }).waitFor()
    assert.equal(await page.getByLabel('User').count(), 0)
    await page.getByRole('button', { name: 'Create a key' }).click()
    await fill(page, { Description: 'mine' })
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, 'mine').getByText('active').waitFor()
    await page.goto(`${served.consoleUrl}/admin/users`)
    await page.getByRole('heading', { name: 'Not yours to see' }).waitFor()
  },
)

test(
  'an operator who may read tasks and the audit log sees those, and no button for what is not permitted',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const body = { name: 'watch', permissions: ['scheduled_tasks:read', 'audit_log:read'] }
    await served.call('POST', '/api/v1/admin/roles', { body })
    const token = await served.tokens.tenant('platform', { role: 'watch' })
    const { page } = await served.open({ token, path: '/admin/tasks' })
    await row(page, 'resource_sync').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Run now|Pause)/ }).count(), 0)
    const names = await pages(page).allInnerTexts()
    assert.deepEqual(names.slice(names.indexOf('Administration') + 1), ['Scheduled tasks', 'Audit log'])
  },
)
