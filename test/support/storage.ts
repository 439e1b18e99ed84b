// Places for raw invoices in tests: a folder of the test's own, and a bucket of the simulated S3-compatible service.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createSandboxStorage, type SandboxStorage } from '../../sandbox/storage/server.ts'
import { createStorage } from '../../src/integrations/storage/index.ts'
import { lasting } from './lasting.ts'
import { type Bundle, type SetupOptions, setup } from './setup.ts'

export const base = '/api/v1/admin/storage_backends'

export const S3_SECRET = 'storage-test-secret/5b1f0e'

export interface Places extends Bundle {
  dataDir: string
  bucket: SandboxStorage
  /** The body that makes a backend of the bucket. */
  s3: Record<string, unknown>
  /** Makes a backend; its id. */
  have(body: Record<string, unknown>, active?: boolean): Promise<string>
}

/** Tries again, but at once. */
const QUICK = { backoffMs: 1, silenceMs: 60_000 }

/** Folders of the test's own, and buckets that are given up on at once; the folder they are in. */
export function quickStorage(t: TestContext, { ctx, clock }: Pick<Bundle, 'ctx' | 'clock'>): string {
  const { after: undo } = lasting(t)
  const dataDir = mkdtempSync(join(tmpdir(), 'cloudops-storage-'))
  undo(() => rmSync(dataDir, { recursive: true, force: true }))
  const storage = createStorage({ dataDir, production: false, clock, limits: QUICK })
  undo(() => storage.close())
  ctx.storage = storage
  return dataDir
}

export async function setupPlaces(t: TestContext, options?: SetupOptions): Promise<Places> {
  const { after: undo } = lasting(t)
  const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: S3_SECRET, region: 'nyc3', bucket: 'invoices' }
  const bundle = await setup(t, options)
  const { clock, call } = bundle
  const bucket = createSandboxStorage({ ...keys, clock })
  const { url: endpoint } = await bucket.listen()
  undo(() => bucket.close())
  const dataDir = quickStorage(t, bundle)
  const { region, accessKeyId: access_key_id, secretAccessKey: secret_access_key } = keys
  const s3 = {
    ...{ name: 'bucket', kind: 's3', endpoint, bucket: 'invoices', region },
    ...{ prefix: 'raw', access_key_id, secret_access_key },
  }
  const have = async (body: Record<string, unknown>, active = true) => {
    const made = await call('POST', base, { body })
    assert.equal(made.status, 201, made.text)
    const { id } = made.body.data
    if (active) assert.equal((await call('POST', `${base}/${id}/activate`)).body.data.active, true)
    return id as string
  }
  return { ...bundle, dataDir, bucket, s3, have }
}

/** What is kept, in the order it was. */
export const filesKept = ({ ctx }: Bundle) =>
  ctx.db
    .selectFrom('invoice_files')
    .innerJoin('storage_backends', 'storage_backends.id', 'backend_id')
    .select(['invoice_id', 'name', 'key', 'bytes', 'sha256'])
    .orderBy('invoice_files.id')
    .execute()
