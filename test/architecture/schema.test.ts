// Rules about the database, asked of the database's own catalog, so that a table added later cannot forget them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { setup } from '../support/setup.ts'

test('every table has a primary key', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every foreign key has an index that begins with its columns', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ key: string }>`
    select k.conrelid::regclass || '.' || k.conname as key from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace
      and not exists (
        select 1 from pg_index i
        where i.indrelid = k.conrelid and i.indpred is null
          and (string_to_array(i.indkey::text, ' ')::int2[])[1:cardinality(k.conkey)] @> k.conkey)`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every table with a tenant column has an index that begins with it', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every time is kept in UTC to the millisecond: timestamptz(3)', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and format_type(a.atttypid, null) ~ '^time'
      and format_type(a.atttypid, a.atttypmod) <> 'timestamp(3) with time zone'`.execute(ctx.db)
  assert.deepEqual(rows, [])
})

test('a backup can be restored: functions in columns and indexes find each other without a search path', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select f.proname || ' mentions ' || other.name as name from pg_proc f
    join (
      select proname as name from pg_proc where pronamespace = 'public'::regnamespace
      union select relname from pg_class where relnamespace = 'public'::regnamespace
    ) other on f.prosrc ~ ('\\m' || other.name || '\\M')
    where f.pronamespace = 'public'::regnamespace and f.prosqlbody is null
      and f.prorettype <> 'trigger'::regtype`.execute(ctx.db)
  assert.deepEqual(rows, [])
})
