// The desired state as sagas write it: in their own transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { dropDesiredState, writeDesiredState } from '../../src/features/drift/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { newId } from '../../src/kernel/ids.ts'
import { setup } from '../support/setup.ts'
import { rowOf, see } from '../support/sweep.ts'

test('the version of a desired state goes up when the spec changes and only then', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  await see(bundle, 'droplet', [{ provider_id: '1' }])
  const { id: resourceId } = await rowOf(bundle, 'droplet', '1')
  const write = (spec: Record<string, unknown>, sagaId: string | null = null) =>
    transaction(db, async tx => {
      const at = bundle.clock.now().toISOString()
      return (await writeDesiredState(tx, at, { resourceId, spec, sagaId })).spec_version
    })
  const stored = () => db.selectFrom('cloud_provisioned').selectAll().executeTakeFirst()

  assert.equal(await write({ name: 'web', size: 1 }), 1)
  bundle.clock.advance(1_000)
  assert.equal(await write({ size: 1, name: 'web' }), 1)
  assert.notEqual((await stored())!.updated_at, bundle.clock.now().toISOString())
  assert.equal(await write({ name: 'web', size: 2 }), 2)
  assert.equal((await stored())!.updated_at, bundle.clock.now().toISOString())

  // A saga that wants the same is on record; an operator's change leaves it there.
  const sagaId = newId()
  await sql`
    insert into saga_runs (id, kind, status, step_modules, inputs, business_key, actor, job_id, heartbeat_at, created_at)
    values (${sagaId}, 'provision_deployment', 'pending', '{}', '{}', 'x', 'test', ${newId()}, now(), now())`.execute(
    db,
  )
  assert.equal(await write({ name: 'web', size: 2 }, sagaId), 2)
  const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": null}')
  assert.equal(await write(hostile), 3)
  const kept = (await stored())!
  assert.equal(kept.saga_id, sagaId)
  assert.deepEqual(Object.keys(kept.spec).sort(), ['__proto__', 'constructor'])

  const drop = () => transaction(db, tx => dropDesiredState(tx, bundle.clock.now().toISOString(), resourceId))
  assert.equal(await drop(), true)
  assert.equal(await drop(), false)
  assert.equal(await stored(), undefined)
  await assert.rejects(
    transaction(db, tx =>
      writeDesiredState(tx, bundle.clock.now().toISOString(), {
        resourceId: newId(),
        spec: {},
        sagaId: null,
      }),
    ),
    { code: 'not_found' },
  )
})
