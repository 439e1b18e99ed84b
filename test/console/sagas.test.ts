// The console's pages of sagas: the list, a run as it goes and as it ended, a very long one, and leaks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { deployment } from '../support/factories.ts'
import { gate, kindOf, run, start, step } from '../support/sagas.ts'
import { see } from '../support/sweep.ts'

const failing = kindOf('failing', [
  step('first', []),
  step('second', [], { execute: async () => ({ ok: false, reason: 'the provider said <i>no</i>' }) }),
  step('third', []),
])

test(
  'without runs the list says so; a run that failed shows its steps, why, and who started it',
  inBrowser,
  async t => {
    const served = await serveConsole(t, { worker: true, sagaKinds: () => [failing] })
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path: '/sagas' })
    await page.getByText('No run matches. Provisioning or deprovisioning a deployment starts one.').waitFor()
    const { id } = await run(served, 'failing')
    // Seen without a reload.
    await page.getByRole('link', { name: 'failing' }).click()
    await page.waitForURL(`**/sagas/${id}`)
    const steps = page.getByRole('table', { name: 'Steps' }).getByRole('row')
    await steps.nth(3).waitFor()
    const shown = (await steps.allInnerTexts()).slice(1)
    assert.match(shown[0]!, /1\s+first\s+compensated/)
    assert.match(shown[1]!, /2\s+second\s+failed.*the provider said <i>no<\/i>/s)
    assert.match(shown[2]!, /3\s+third\s+not begun/)
    await page.getByText('It did not complete.').waitFor()
    assert.match(await page.getByRole('main').innerText(), /Started by\s+ada/)
    await page.getByRole('heading', { name: 'Step 2: second' }).waitFor()
    await page.getByRole('link', { name: 'first' }).click()
    await page.getByRole('group', { name: 'Output of first' }).getByText('"did": "first"').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Cancel the run…' }).count(), 0)
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
    await page.goto(`${served.consoleUrl}/sagas?deployment_id=seven`)
    await page.getByRole('alert').getByText('deployment_id').first().waitFor()
  },
)

test('a run under way is cancelled by its typed name, and seen to turn back', inBrowser, async t => {
  const held = gate()
  const slow = kindOf('slow', [
    step('first', []),
    step('second', [], {
      execute: async () => {
        await held.pass()
        return { ok: true }
      },
    }),
    step('third', []),
  ])
  const served = await serveConsole(t, { worker: true, sagaKinds: () => [slow] })
  const { id } = await start(served, 'slow')
  await held.reached
  const { page } = await served.open({
    token: await served.tokens.admin(),
    path: `/sagas/${id}`,
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark',
  })
  const second = page.getByRole('table', { name: 'Steps' }).getByRole('row').nth(2)
  await second.getByText('running').waitFor()
  await page.getByRole('button', { name: 'Cancel the run…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel the run' })
  await dialog.getByLabel('Type slow to confirm').fill('slow')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Cancel the run' }).click()
  await dialog.waitFor({ state: 'detached' })
  held.open()
  await second.getByText('compensated').waitFor()
  await page.getByText('cancelled by ada').waitFor()
  await page.getByText('An upright mark is the moment').waitFor()
  await assertAccessible(page)
})

test('a member sees the runs of its deployments, without what is the operator’s', inBrowser, async t => {
  const served = await serveConsole(t)
  const { id: deployment_id } = await deployment(served, 'acme')
  const at = new Date().toISOString()
  const id = '01900000-0000-7000-8000-000000000001'
  await sql`insert into saga_runs (id, kind, status, step_modules, inputs, context, error, business_key, deployment_id, tenant_id,
      actor, job_id, heartbeat_at, created_at, started_at, finished_at)
    values (${id}, 'provision_deployment', 'rolled_back', '{check_plan_caps}', ${JSON.stringify({ deployment_id })},
      '{"droplet_id": 4711}', '{"step_idx": 0, "step": "check_plan_caps", "reason": "the account is full"}', 'k', ${deployment_id},
      'acme', 'ada', ${id}, ${at}, ${at}, ${at}, ${at})`.execute(served.ctx.db)
  await sql`insert into saga_step_results (saga_id, step_idx, name, status, output, error, started_at, finished_at)
    values (${id}, 0, 'check_plan_caps', 'failed', '{"droplet_id": 4711}', 'the account is full', ${at}, ${at})`.execute(
    served.ctx.db,
  )
  const { page } = await served.open({ token: await served.tokens.tenant('acme'), path: '/sagas' })
  await page.getByRole('link', { name: 'provision deployment' }).click()
  await page.getByText('The operator of the platform can see why.').first().waitFor()
  const text = await page.getByRole('main').innerText()
  for (const hidden of ['4711', 'the account is full', 'ada', 'Context'])
    assert.equal(text.includes(hidden), false, hidden)
  assert.equal(await page.getByRole('link', { name: 'Leaks' }).count(), 0)
  const other = await served.open({ token: await served.tokens.tenant('globex'), path: `/sagas/${id}` })
  await other.page.getByRole('alert').getByText('Not Found').waitFor()
  await assertAccessible(page)
})

test(
  'of a run of thousands of steps those in sight are fetched and drawn, wherever one looks',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const id = '01900000-0000-7000-8000-000000000002'
    await sql`insert into saga_runs (id, kind, status, step_modules, current_step_index, inputs, business_key, actor, job_id,
      heartbeat_at, created_at, started_at, finished_at)
    select ${id}, 'long', 'completed', array(select 'step_' || i from generate_series(1, 3000) as i), 3000, '{}', 'k', 'ada', ${id},
      now(), now(), now() - interval '1 hour', now()`.execute(served.ctx.db)
    await sql`insert into saga_step_results (saga_id, step_idx, name, status, started_at, finished_at)
    select ${id}, i - 1, 'step_' || i, 'completed', now() - interval '1 hour', now() - interval '1 hour' + i * interval '1 second'
    from generate_series(1, 3000) as i`.execute(served.ctx.db)
    const { page } = await served.open({ token: await served.tokens.admin(), path: `/sagas/${id}` })
    const table = page.getByRole('table', { name: 'Steps' })
    await table.getByRole('row').filter({ hasText: 'step_1' }).first().getByText('completed').waitFor()
    assert.equal(await table.getAttribute('aria-rowcount'), '3001')
    await page.getByRole('group', { name: 'Steps' }).focus()
    await page.keyboard.press('End')
    const last = table.getByRole('row').filter({ hasText: 'step_3000' })
    await last.getByText('completed').waitFor()
    assert.match(await last.innerText(), /50 min 0 s/)
    assert.ok((await table.getByRole('row').count()) < 100, 'only what is in sight is drawn')
    await assertAccessible(page)
  },
)

test('what a run left behind is listed with what can be done, and kept', inBrowser, async t => {
  const served = await serveConsole(t)
  const token = await served.tokens.admin()
  const { page } = await served.open({ token, path: '/sagas/leaks' })
  await page.getByText('Nothing was left behind').waitFor()
  await see(served, 'droplet', [
    { provider_id: '1', name: 'left', tags: ['saga:01900000-0000-7000-8000-0000000000aa'] },
  ])
  await page.reload()
  const leak = page.getByRole('table', { name: 'Leaks' }).getByRole('row').nth(1)
  assert.match(await leak.innerText(), /left\s+droplet\s+No run has the id of its tag/)
  await assertAccessible(page)
  await leak.getByRole('button', { name: 'Keep left' }).click()
  await page.getByRole('dialog', { name: 'Keep left' }).getByRole('button', { name: 'Keep' }).click()
  await page.getByText('Nothing was left behind').waitFor()
})
