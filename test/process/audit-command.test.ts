// The command line over the audit log, as a process against the test's service.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { auditSeal } from '../../src/features/audit-log/chain-entries.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { runCommand } from '../support/process.ts'
import { testEnvironment } from '../support/setup.ts'
import { setupPlaces } from '../support/storage.ts'

test(
  'cloudops audit verify compares the log with copies of its checkpoints, and ends with 1 when one is missing',
  onPostgresAlone,
  async t => {
    const bundle = await setupPlaces(t)
    const { ctx, url, tokens, dataDir } = bundle
    await bundle.have({ name: 'folder', kind: 'local', folder: 'kept' })
    const copies = join(dataDir, 'storage/kept/audit/checkpoints')
    const verify = async (...args: string[]) => {
      const env = { ...testEnvironment, CLOUDOPS_URL: url, CLOUDOPS_TOKEN: await tokens.admin() }
      return runCommand(['audit', 'verify', ...args], { env })
    }
    for (let i = 0; i < 2; i++) {
      await deployment(bundle)
      await auditSeal(ctx).run({ log: ctx.log } as never)
    }
    const whole = await verify('--checkpoints', copies)
    assert.equal(whole.code, 0, whole.stderr)
    assert.match(whole.stdout, /intact: 4 entries, 2 checkpoints/)
    assert.match(whole.stdout, /published in folder: up to checkpoint 2/)
    assert.match(whole.stdout, /compared with your copies: 2/)
    assert.match(whole.stdout, /head: 4:[0-9a-f]{64}/)

    // Cut off in the database, and no backend is named there any more.
    const statements = [
      'delete from audit_log where id in (select entry_id from audit_seals where seq > 3)',
      'delete from audit_seals where seq > 3',
      'delete from audit_checkpoints where number > 1',
      'update storage_backends set active = false',
    ]
    await ctx.engine.session(session =>
      session.transaction(tx =>
        tx.script(`set local session_replication_role = replica; ${statements.join(';')}`),
      ),
    )
    assert.equal((await verify()).code, 0)
    const newest = join(copies, readdirSync(copies).sort().at(-1)!)
    for (const path of [copies, newest]) {
      const cut = await verify('--checkpoints', path)
      assert.equal(cut.code, 1)
      assert.match(cut.stderr, /checkpoint 2, which is kept elsewhere, is missing here/)
    }
    assert.match((await verify('--checkpoints', join(dataDir, 'none'))).stderr, /cannot be read/)
  },
)
