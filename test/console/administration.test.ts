// Administration in the console: every page empty, full and cut off, and what each of them can do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { Type } from 'typebox'
import { createSandboxStorage } from '../../sandbox/storage/server.ts'
import { handle, type JobType } from '../../src/kernel/queue/queues.ts'
import { assertAccessible, inBrowser, type Served, serveConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { quickStorage } from '../support/storage.ts'

/** By the command palette, as from any page. */
async function go(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command' }).fill(`go to ${name}`)
  await page.keyboard.press('Enter')
}

const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

const PAGES: [name: string, title: string, empty: string][] = [
  ['Administration', 'Administration', 'Being idle does not end it.'],
  ['Scheduled tasks', 'Scheduled tasks', 'resource_sync'],
  ['Dead letters', 'Dead letters', 'No job has given up.'],
  ['Users', 'Users', 'Nobody matches.'],
  ['Roles', 'Roles', 'platform_admin'],
  ['Invitations', 'Invitations', 'No invitation matches.'],
  ['API keys', 'Your API keys', 'There is none. A script sends one in place of a token.'],
  ['Secrets', 'Secrets', 'There is none. provider_token/<queue>'],
  ['Webhooks', 'Webhooks', 'There is none. One is told of'],
  ['Storage backends', 'Storage backends', 'There is none, so the provider’s invoice files are not kept.'],
  ['Audit log', 'Audit log', 'startSession'],
  ['Checkpoints', 'Checkpoints of the audit log', 'There is none yet'],
]

test(
  'every page of administration is reached by the commands, says when it is empty, and when it cannot be read',
  inBrowser,
  async t => {
    const { open, tokens } = await serveConsole(t)
    const { page, complaints } = await open({ token: await tokens.admin(), path: '/admin' })
    await page.getByRole('heading', { name: 'Administration', level: 1 }).waitFor()
    for (const [name, title, empty] of PAGES) {
      await go(page, name)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.getByRole('main').getByText(empty).first().waitFor()
      await assertAccessible(page)
    }
    await page.context().setOffline(true)
    for (const [name, title] of PAGES.slice(1)) {
      await go(page, name)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    }
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('There is none yet').waitFor()
    assert.deepEqual(complaints, [])
  },
)

test('tasks are run, paused and resumed, and their runs tell what came of them', inBrowser, async t => {
  const { open, tokens, ctx } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path: '/admin/tasks' })
  await page.getByRole('button', { name: 'Pause balance' }).click()
  await said(page, 'balance is paused')
  await row(page, 'balance').getByText('paused').waitFor()
  await page.getByRole('button', { name: 'Resume balance' }).click()
  await row(page, 'balance').getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('button', { name: 'Run now: balance' }).click()
  await row(page, 'balance').getByText('queued').waitFor()
  await page.getByRole('button', { name: 'Run now: balance' }).click()
  await page.getByRole('alert').getByText('Request').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await ctx.db
    .updateTable('task_runs')
    .set({ status: 'failed', error: 'the moon is in the way', finished_at: ctx.clock.now().toISOString() })
    .execute()
  await page.getByRole('link', { name: 'balance' }).click()
  const runs = page.getByRole('list', { name: 'Runs, newest first' })
  await runs.getByText('the moon is in the way').waitFor()
  assert.match(await runs.innerText(), /^failed asked for by ada/)
  await assertAccessible(page)
})

const letterType: JobType = {
  name: 'probe',
  queue: 'provisioning',
  payload: Type.Object({ n: Type.Integer() }),
}

/** Jobs that have given up: those of this queue have one attempt. */
async function deadLetters({ ctx, call }: Served, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await ctx.jobs.send(ctx.db, letterType, { n }, { key: String(n) })
  await ctx.jobs.work([
    handle(letterType, async () => {
      throw new Error('the moon is in the way')
    }),
  ])
  await eventually('they are given up', async () => {
    const { body } = await call('GET', '/api/v1/admin/dead_letters')
    return body.data.length === count
  })
  await ctx.jobs.stop(5_000)
}

test(
  'a dead letter shows its error and payload, and is retried, alone or with others',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await deadLetters(served, 3)
    const { page } = await served.open({ token: await served.tokens.admin(), path: '/admin/dead-letters' })
    await page.getByRole('button', { name: 'Show probe' }).last().click()
    const dialog = page.getByRole('dialog', { name: 'probe' })
    await dialog.getByText('the moon is in the way').waitFor()
    await dialog.getByRole('group', { name: 'Payload' }).getByText('"n": ').waitFor()
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Retry probe' }).click()
    await said(page, 'probe is queued again')
    await page.getByRole('row').nth(3).waitFor({ state: 'detached' })
    await page.getByLabel('Select all rows shown').check()
    await page.getByRole('button', { name: 'Retry 2 selected' }).click()
    await page.getByText('No job has given up.').waitFor()
  },
)

test('a backend is added, found wanting or good, used and deleted by its name', inBrowser, async t => {
  const served = await serveConsole(t)
  quickStorage(t, served)
  const keys = { accessKeyId: 'AKID', secretAccessKey: 'another', region: 'fra1', bucket: 'archive' }
  const bucket = createSandboxStorage({ ...keys, clock: served.clock })
  const { url: endpoint } = await bucket.listen()
  t.after(() => bucket.close())
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/admin/storage' })
  await page.getByRole('button', { name: 'Add a backend' }).click()
  await page.getByLabel('Kind').selectOption('s3')
  for (const [label, value] of [
    ['Name', 'archive'],
    ['Endpoint', endpoint],
    ['Bucket', 'archive'],
    ['Region', 'fra1'],
    ['Access key’s id', 'AKID'],
    ['Secret access key', 'sesame'],
  ] as const)
    await page.getByLabel(label, { exact: false }).first().fill(value)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Check archive' }).click()
  await page.getByRole('alert').getByText('archive cannot be used').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByRole('button', { name: 'As curl' }).click()
  const calls = page.getByRole('group', { name: 'Commands' })
  await calls.getByText('$SECRET').waitFor()
  assert.ok(!(await calls.innerText()).includes('sesame'))
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Add a backend' }).click()
  await page.getByLabel('Name').fill('disk')
  await page.getByLabel('Folder').fill('invoices')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Check disk' }).click()
  await said(page, 'A file was written to disk, read back and removed')
  await page.getByRole('button', { name: 'Activate disk' }).click()
  await row(page, 'disk').getByRole('button', { name: 'Deactivate' }).waitFor()
  await page.getByRole('button', { name: 'Delete archive' }).click()
  const destroy = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
  await page.getByLabel('Type archive to confirm').fill('archiv')
  assert.equal(await destroy.isDisabled(), true)
  await page.getByLabel('Type archive to confirm').fill('archive')
  await destroy.click()
  await row(page, 'archive').waitFor({ state: 'detached' })
})

test(
  'the audit log is filtered, an entry shows before and after, and the log is verified, also when it was touched',
  inBrowser,
  async t => {
    const { open, tokens, call } = await serveConsole(t)
    const body = { name: 'desk', permissions: ['billing:read'] }
    await call('POST', '/api/v1/admin/roles', { body })
    await call('PATCH', '/api/v1/admin/roles/desk', { body: { permissions: ['billing:read', 'costs:read'] } })
    const { page } = await open({ token: await tokens.admin(), path: '/admin/audit' })
    await row(page, 'changeRole').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('nobody')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?actor=nobody$/)
    await page.getByText('No entry matches.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Operation').fill('changeRole')
    await page.keyboard.press('Enter')
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
    const today = new Date().toLocaleDateString('sv')
    await page.getByLabel('From').fill(today)
    await page.getByLabel('To', { exact: true }).fill(today)
    await page.keyboard.press('Tab')
    await row(page, 'changeRole').getByRole('link').click()
    await page.getByRole('heading', { name: 'changeRole by ada', level: 1 }).waitFor()
    const changed = page.getByRole('row').filter({ hasText: 'permissions' })
    assert.equal((await changed.innerText()).split('\t').at(-1), '["billing:read","costs:read"]')
    await assertAccessible(page)
    await go(page, 'Checkpoints')
    await page.getByRole('button', { name: 'Verify the log' }).click()
    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('intact').waitFor()
    await assertAccessible(page)
    await page.getByLabel('A head that was noted earlier').fill(`1:${'0'.repeat(64)}`)
    await page.keyboard.press('Enter')
    await result.getByText('broken', { exact: true }).waitFor()
  },
)
