import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { lasting } from '../support/lasting.ts'
import { setup } from '../support/setup.ts'

test('anyone may ask for health, and is told which service answers', async t => {
  const { call } = await setup(t)
  const { status, body } = await call('GET', '/api/health', { token: null })
  assert.equal(status, 200)
  assert.equal(body.data.service, 'cloudops')
  assert.equal(body.data.status, 'ok')
})

test('health is 503 with a problem when the database does not answer', async t => {
  const { call, ctx } = await setup(t)
  ctx.engine.ping = async () => {
    throw new Error('connection refused to 10.0.0.1')
  }
  const { status, body, headers } = await call('GET', '/api/health', { token: null })
  assert.equal(status, 503)
  assert.equal(body.code, 'unavailable')
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.doesNotMatch(JSON.stringify(body), /10\.0\.0\.1/)
})

test(
  'a full disk is told as what it is, also by health, until writes work again',
  onPostgresAlone,
  async t => {
    const { after: undo } = lasting(t)
    const { call, ctx } = await setup(t)
    const fill = (statement: string) => sql.raw(statement).execute(ctx.db)
    await fill(`create function disk_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
    undo(() => fill('drop function if exists disk_full cascade').then(() => {}))
    await fill('create trigger disk_full before update on scheduled_tasks execute function disk_full()')
    const health = () => call('GET', '/api/health', { token: null })
    const pause = () => call('POST', '/api/v1/admin/scheduled_tasks/housekeeping/pause')
    assert.equal((await health()).status, 200)
    for (const { status, body } of [await pause(), await health()]) {
      assert.deepEqual([status, body.code], [503, 'database_cannot_write'])
      assert.equal(body.detail, 'The database cannot write: its disk is full.')
    }
    assert.equal((await call('GET', '/api/v1/admin/scheduled_tasks')).status, 200)
    await fill('drop function disk_full cascade')
    assert.equal((await pause()).status, 200)
    await eventually('health is well', async () => (await health()).status === 200)
  },
)
