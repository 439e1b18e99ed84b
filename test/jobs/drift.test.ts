import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectDrift } from '../../src/features/drift/detect-drift.ts'
import { writeDesiredState } from '../../src/features/drift/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { setup } from '../support/setup.ts'
import { rowOf, see } from '../support/sweep.ts'

test('try', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  await see(bundle, 'droplet', [{ provider_id: '1', attrs: { memory: 512, list: [1, 2] } }])
  const { id: resourceId } = await rowOf(bundle, 'droplet', '1')
  await writeDesiredState(db, bundle.clock.now().toISOString(), {
    resourceId,
    spec: { name: 'x', memory: '512', list: ['2', '1'], nope: null, no: 'f' },
    sagaId: null,
  })
  const sweep = () => detectDrift(bundle.ctx, { id: newId(), signal: new AbortController().signal })
  console.log(await sweep(), await sweep())
  console.log(await db.selectFrom('cloud_drift').selectAll().execute())
  console.log(JSON.stringify(await db.selectFrom('cloud_resource_events').selectAll().execute(), null, 1))
})
