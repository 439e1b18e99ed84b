// The audit log against its own database's owner: whoever has all the rights there, but not the key, is found out.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BEGINNING, linkAfter, macText } from '../../src/features/audit-log/chain.ts'
import { auditSeal, chainEntries } from '../../src/features/audit-log/chain-entries.ts'
import { documentIn } from '../../src/features/audit-log/checkpoint.ts'
import { listLinks } from '../../src/features/audit-log/store.ts'
import { verifyChain } from '../../src/features/audit-log/verify-chain.ts'
import { auditKeys } from '../../src/kernel/audit-keys.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup, testEnvironment } from '../support/setup.ts'
import { setupPlaces } from '../support/storage.ts'

const base = '/api/v1/admin/audit_log'

/** What the owner of the database does: a replica's session fires no triggers. */
const behind = ({ ctx }: Bundle, ...statements: string[]) =>
  ctx.engine.session(session =>
    session.transaction(tx =>
      tx.script(`set local session_replication_role = replica; ${statements.join(';')}`),
    ),
  )

async function verdict({ call }: Bundle): Promise<[boolean, number | null, string | null]> {
  const { body } = await call('GET', `${base}/verify`)
  const { intact, broken_at, reason } = body.data
  return [intact, broken_at, reason]
}

/** A log of entries that were sealed two at a time. */
async function logOf(t: TestContext, rounds = 3): Promise<Bundle> {
  const bundle = await setup(t)
  await write(bundle, rounds)
  return bundle
}

async function write(bundle: Bundle, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    await deployment(bundle)
    await deployment(bundle)
    await auditSeal(bundle.ctx).run({ log: bundle.ctx.log } as never)
  }
}

/** Works every hash out again, as anyone can who has the entries. */
async function rehash(bundle: Bundle, others: (seq: number, hash: string) => string = () => '') {
  const links = await listLinks(bundle.ctx.db, 0, 1_000, 1_000)
  let link = BEGINNING
  const updates = links.map(({ text }) => {
    link = linkAfter(link, text!)
    return `update audit_seals set hash = '${link.hash}' ${others(link.seq, link.hash)} where seq = ${link.seq}`
  })
  await behind(bundle, ...updates)
}

const lie = "update audit_log set actor = 'eve' where id = (select entry_id from audit_seals where seq = 3)"

test('an entry that is rewritten with all hashes worked out again is found out', async t => {
  const bundle = await logOf(t)
  assert.deepEqual(await verdict(bundle), [true, null, null])
  await behind(bundle, lie)
  await rehash(bundle)
  assert.deepEqual(await verdict(bundle), [false, 3, 'the link was made without the key'])
})

test(
  'nor does it help to strip the keys off the chain, to use another key, or to drop the checkpoints',
  onPostgresAlone,
  async t => {
    const bundle = await logOf(t)
    await behind(bundle, lie)
    await rehash(bundle, () => ', key_id = null, mac = null')
    assert.deepEqual(await verdict(bundle), [false, 1, 'the link has no key'])
    await behind(bundle, 'update audit_seals set checkpoint = null', 'delete from audit_checkpoints')
    assert.deepEqual(await verdict(bundle), [false, 1, 'the link has no key'])
    // What is written from then on does not make it good.
    await write(bundle, 1)
    assert.deepEqual(await verdict(bundle), [false, 1, 'the link has no key'])
  },
)

test('links made with a key of the forger’s own are not taken', onPostgresAlone, async t => {
  const bundle = await logOf(t)
  const { current } = auditKeys('a-secret-that-is-not-the-service’s-own')
  await behind(bundle, lie)
  await rehash(bundle, (seq, hash) => {
    const mac = current.mac(macText({ seq, hash }, null))
    return `, key_id = '${current.id}', mac = '${mac}', checkpoint = null`
  })
  const [intact, broken_at, reason] = await verdict(bundle)
  assert.deepEqual([intact, broken_at, reason], [false, 4, 'the link is not the one of checkpoint 2'])
  await behind(bundle, 'delete from audit_checkpoints')
  const foreign = `the link was made with the key ${current.id}, which is not in SECRET_KEY`
  assert.deepEqual(await verdict(bundle), [false, 1, foreign])
  await write(bundle, 1)
  assert.deepEqual(await verdict(bundle), [false, 1, foreign])
  assert.match(bundle.logged(), /the chain has links and no checkpoint/)
})

test(
  'a tail that is cut off is missed, whether or not new entries take its place',
  onPostgresAlone,
  async t => {
    const bundle = await logOf(t)
    const cut = 'select entry_id from audit_seals where seq > 4'
    await behind(
      bundle,
      `delete from audit_log where id in (${cut})`,
      'delete from audit_seals where seq > 4',
    )
    assert.deepEqual(await verdict(bundle), [false, 6, 'the chain ends before checkpoint 3'])
    await write(bundle, 2)
    assert.deepEqual(await verdict(bundle), [false, 6, 'the link is not the one of checkpoint 3'])
  },
)

test(
  'a checkpoint that is deleted is missed: the first, one in between, the newest, or all',
  onPostgresAlone,
  async t => {
    const bundle = await logOf(t)
    const { ctx } = bundle
    const rows = await ctx.db.selectFrom('audit_checkpoints').selectAll().orderBy('number').execute()
    assert.deepEqual(
      rows.map(({ number, seq }) => [number, seq]),
      [
        [1, 2],
        [2, 4],
        [3, 6],
      ],
    )
    const cases: [string, [boolean, number, string]][] = [
      ['number = 1', [false, 4, 'checkpoint 1 is missing']],
      ['number = 2', [false, 6, 'checkpoint 2 is missing']],
      ['number = 3', [false, 6, 'checkpoint 3 is missing']],
      ['true', [false, 2, 'checkpoint 1 is missing']],
    ]
    for (const [which, expected] of cases) {
      await behind(bundle, `delete from audit_checkpoints where ${which}`)
      assert.deepEqual(await verdict(bundle), expected, which)
      await behind(bundle, 'delete from audit_checkpoints')
      await ctx.db.insertInto('audit_checkpoints').values(rows).execute()
      assert.deepEqual(await verdict(bundle), [true, null, null], which)
    }
    await behind(bundle, "update audit_checkpoints set at = at + interval '1 second' where number = 3")
    assert.deepEqual(await verdict(bundle), [false, 6, 'the signature of checkpoint 3 is not valid'])
  },
)

test('checkpoints are put into the storage backend, and tell when they and the tail are cut off in the database', async t => {
  const bundle = await setupPlaces(t)
  const { dataDir, ctx, call } = bundle
  await bundle.have({ name: 'folder', kind: 'local', folder: 'kept' })
  await write(bundle, 3)
  const folder = join(dataDir, 'storage/kept/audit/checkpoints')
  assert.ok(existsSync(folder))
  const names = () => readdirSync(folder).sort()
  const { data } = (await call('GET', `${base}/checkpoints`)).body
  assert.deepEqual(
    names(),
    data.map(({ number }: { number: number }) => `${String(number).padStart(12, '0')}.json`).reverse(),
  )
  const newest = readFileSync(join(folder, names().at(-1)!), 'utf8')
  assert.deepEqual(documentIn(newest), data[0])
  const { published } = await verifyChain(ctx)
  assert.deepEqual(published, { backend: 'folder', checkpoint: data[0].number, error: null })

  const { seq, number } = data[1]
  await behind(
    bundle,
    `delete from audit_log where id in (select entry_id from audit_seals where seq > ${seq})`,
    `delete from audit_seals where seq > ${seq}`,
    `delete from audit_checkpoints where number > ${number}`,
  )
  const missing = `checkpoint ${number + 1}, which is kept elsewhere, is missing here`
  assert.deepEqual(await verdict(bundle), [false, data[0].seq, missing])
  // The service goes on, and neither overwrites what was published nor believes what took its place.
  await write(bundle, 2)
  assert.equal(readFileSync(join(folder, names().at(-1)!), 'utf8'), newest)
  assert.match(bundle.logged(), /does not fit its published checkpoints/)
  const other = `checkpoint ${number + 1} is not the one that is kept elsewhere`
  assert.deepEqual(await verdict(bundle), [false, data[0].seq, other])
})

test(
  'a backend that cannot be reached is told, and its checkpoints follow when it can',
  onPostgresAlone,
  async t => {
    const bundle = await setupPlaces(t)
    const { bucket, s3, ctx } = bundle
    await bundle.have(s3)
    await bucket.close()
    await write(bundle, 1)
    const away = await verifyChain(ctx)
    assert.equal(away.intact, true)
    assert.equal(away.published?.checkpoint, null)
    assert.match(away.published?.error ?? '', /./)
    await bundle.have({ name: 'folder', kind: 'local', folder: 'kept' })
    await write(bundle, 1)
    const { checkpoints, published } = await verifyChain(ctx)
    assert.deepEqual(published, { backend: 'folder', checkpoint: checkpoints, error: null })
  },
)

test('a webhook hears of every checkpoint, with all that is needed to check it', async t => {
  const bundle = await setup(t)
  const body = { url: 'https://receiver.example.com/', events: ['audit.*'] }
  await bundle.call('POST', '/api/v1/admin/webhooks', { body })
  await write(bundle, 1)
  const events = await bundle.ctx.db.selectFrom('webhook_events').selectAll().execute()
  const { data } = (await bundle.call('GET', `${base}/checkpoints`)).body
  assert.deepEqual(
    events.map(({ type, tenant_id, data }) => [type, tenant_id, data]),
    [['audit.checkpoint', null, { tenant_id: null, checkpoint: data[0] }]],
  )
})

test(
  'a new secret takes over from the old one, and what the old one vouched for stays proven',
  onPostgresAlone,
  async t => {
    const bundle = await logOf(t)
    const { ctx } = bundle
    const [old, next] = [testEnvironment.SECRET_KEY, 'another-secret-key-77d1be09d27f85a63d1']
    const withKeys = (...secrets: string[]) => ({ ...ctx, auditKeys: auditKeys(secrets) })
    const early = await verifyChain(withKeys(next))
    assert.equal(early.intact, false)
    assert.match(String(early.reason), /which is not in SECRET_KEY/)
    // With both, the first seal makes a checkpoint under the new one, also when there is nothing new to seal.
    const both = withKeys(next, old)
    assert.equal(await chainEntries(both), 0)
    assert.equal((await verifyChain(both)).checkpoints, 4)
    const after = await verifyChain(withKeys(next))
    assert.deepEqual([after.intact, after.entries, after.reason], [true, 6, null])
    await behind(bundle, lie)
    assert.equal((await verifyChain(withKeys(next))).broken_at, 3)
  },
)

test('entries that were chained before there was a key are taken once, and proven by the first checkpoint', async t => {
  const bundle = await logOf(t, 2)
  const { ctx } = bundle
  await behind(
    bundle,
    'update audit_seals set key_id = null, mac = null, checkpoint = null',
    'delete from audit_checkpoints',
    'insert into audit_unkeyed select 4, id from audit_log order by id desc limit 1',
  )
  assert.deepEqual(await verdict(bundle), [true, null, null])
  await write(bundle, 1)
  const { intact, entries, unkeyed } = await verifyChain(ctx)
  assert.deepEqual([intact, entries, unkeyed], [true, 6, 4])
  // Stripping off the keys of the others makes them no older than they are.
  const links = await ctx.db.selectFrom('audit_seals').selectAll().execute()
  const checkpoints = await ctx.db.selectFrom('audit_checkpoints').selectAll().execute()
  await behind(
    bundle,
    'update audit_seals set key_id = null, mac = null, checkpoint = null',
    'delete from audit_checkpoints',
  )
  assert.deepEqual(await verdict(bundle), [false, 1, 'the link has no key'])
  await behind(bundle, 'delete from audit_seals')
  await behind(
    bundle,
    ...links.map(
      ({ seq, entry_id, hash, key_id, mac, checkpoint }) =>
        `insert into audit_seals values (${seq}, '${entry_id}', '${hash}', ${key_id && `'${key_id}'`}, ${mac && `'${mac}'`}, ${checkpoint})`,
    ),
  )
  await ctx.db.insertInto('audit_checkpoints').values(checkpoints).execute()
  assert.deepEqual(await verdict(bundle), [true, null, null])
  // A link that is added without a key, behind one that has one, is found out.
  await deployment(bundle)
  await ctx.engine.session(session =>
    session.query(
      `insert into audit_seals (seq, entry_id, hash) select 7, id, repeat('0', 64) from audit_log
       where id not in (select entry_id from audit_seals) limit 1`,
    ),
  )
  assert.deepEqual((await verdict(bundle)).slice(0, 2), [false, 7])
  await behind(bundle, 'delete from audit_seals where seq = 7')
  assert.equal((await verifyChain(ctx)).entries, 7)
  await behind(bundle, lie)
  await rehash(bundle)
  assert.deepEqual((await verdict(bundle))[0], false)
})

test('checkpoints are listed newest first, page by page, to a platform_admin alone, and cannot be changed', async t => {
  const bundle = await logOf(t)
  const { call, ctx, tokens } = bundle
  const first = await call('GET', `${base}/checkpoints?limit=2`)
  const second = await call('GET', `${base}/checkpoints?limit=2&cursor=${first.body.next_cursor}`)
  const all = [...first.body.data, ...second.body.data]
  assert.deepEqual(
    all.map(({ number, seq, entries }) => [number, seq, entries]),
    [
      [3, 6, 6],
      [2, 4, 4],
      [1, 2, 2],
    ],
  )
  assert.equal(all[0].public_key, ctx.auditKeys.current.publicKey)
  const token = await tokens.tenant('acme')
  assert.equal((await call('GET', `${base}/checkpoints`, { token })).status, 403)
  for (const statement of ['update audit_checkpoints set seq = 1', 'delete from audit_checkpoints'])
    await assert.rejects(
      ctx.engine.session(session => session.query(statement)),
      /append-only/,
    )
})
