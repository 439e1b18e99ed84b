// Two versions side by side: each takes what it knows, and leaves the rest to the other.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { buildApp } from '../../src/app.ts'
import type { SagaKind } from '../../src/features/sagas/index.ts'
import { anotherWorker } from '../support/another-worker.ts'
import { eventually } from '../support/eventually.ts'
import { ended, type Journal, kindOf, show, start, statuses, step } from '../support/sagas.ts'
import { type Bundle, caller, setup } from '../support/setup.ts'

test('a run with a step that this version does not know waits for one that does, and is taken by it', async t => {
  const journal: Journal = []
  const [a, b] = [step('a', journal), step('b', journal)]
  const kinds = [kindOf('grown', [a])]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const known = await start(bundle, 'grown')
  const grown = await start({ ...bundle, ...(await newer(t, bundle, [kindOf('grown', [a, b])])) }, 'grown')
  const other = await start({ ...bundle, ...(await newer(t, bundle, [kindOf('other', [b])])) }, 'other')
  assert.equal((await ended(bundle, known.id)).status, 'completed')
  for (const { id } of [grown, other]) {
    await eventually('it is left alone', async () =>
      bundle.logged().includes(`"saga_id":"${id}","msg":"saga left to`),
    )
    const left = await show(bundle, id)
    assert.deepEqual([left.status, left.steps, left.error], ['pending', [], null])
  }
  assert.deepEqual(journal, ['execute a'])

  await anotherWorker(t, bundle, { kinds: [kindOf('grown', [a, b]), kindOf('other', [b])] })
  for (const { id } of [grown, other]) assert.equal((await ended(bundle, id)).status, 'completed')
  assert.equal((await bundle.call('GET', '/api/v1/admin/dead_letters')).body.data.length, 0)
})

test('a run with a step that nobody has known for a day is failed, and says which', async t => {
  const journal: Journal = []
  const kinds = [kindOf('old', [step('a', journal), step('b', journal)])]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { db } = bundle.ctx
  const { id } = await start(bundle, 'old')
  await db
    .updateTable('saga_runs')
    .set({ step_modules: ['a', 'removed_since'] })
    .execute()
  await anotherWorker(t, bundle)
  await eventually('it is left alone', async () => bundle.logged().includes('knows its steps'))
  await sql`update saga_runs set unknown_since = unknown_since - interval '25 hours'`.execute(db)
  const ran = await ended(bundle, id)
  assert.equal(ran.status, 'failed')
  assert.deepEqual(ran.error, {
    step_idx: 1,
    step: 'removed_since',
    reason: 'no running version of the service has known the step removed_since of old for a day',
  })
  assert.deepEqual([journal, statuses(ran)], [[], ['failed']])
})

/** The API of another version beside the bundle's, with these workflows. */
async function newer(
  t: TestContext,
  { ctx, tokens }: Bundle,
  kinds: SagaKind[],
): Promise<Pick<Bundle, 'call'>> {
  const app = await buildApp({ ...ctx, sagaKinds: kinds })
  t.after(() => app.close())
  return { call: caller(await app.listen({ host: '127.0.0.1', port: 0 }), tokens) }
}
