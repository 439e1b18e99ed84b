// Raw invoice files: two places for them are named, one is tried out and activated, and a file is kept and given back; then
// it is lost.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../test/support/eventually.ts'
import type { Teller } from './recorder.ts'

const base = '/api/v1/admin/storage_backends'

export async function store(told: Teller): Promise<void> {
  const { tell, call, ctx } = told
  const bucket = {
    ...{ name: 'archive', kind: 's3', endpoint: 'https://nyc3.digitaloceanspaces.com', region: 'nyc3' },
    ...{ bucket: 'acme-invoices', prefix: 'raw', access_key_id: 'EXAMPLE', secret_access_key: 'EXAMPLE' },
  }
  const { body: made } = await tell(201, 'POST', base, { body: bucket })
  await tell('name_taken', 'POST', base, { body: bucket })
  const archive = `${base}/${made.data.id}`
  const keys = { access_key_id: 'EXAMPLE2', secret_access_key: 'EXAMPLE2' }
  await tell(200, 'PATCH', archive, { body: keys })
  const { body: second } = await tell(201, 'POST', base, {
    body: { name: 'disk', kind: 'local', folder: 'invoices' },
  })
  const disk = `${base}/${second.data.id}`
  await tell(200, 'POST', `${disk}/check`, { body: {} })
  await tell(200, 'GET', disk)

  const { body: invoices } = await call('GET', '/api/v1/billing/invoices')
  const invoice = `/api/v1/billing/invoices/${invoices.data[0].id}`
  await tell('file_not_kept', 'GET', `${invoice}/file`)
  await tell(200, 'POST', `${disk}/activate`, { body: {} })
  await eventually('the file is kept', async () => {
    await call('POST', `${invoice}/ingest`)
    return (await call('GET', invoice)).body.data.file !== null
  })
  await tell(200, 'GET', invoice)
  await tell(200, 'GET', `${invoice}/file`)
  await tell(200, 'GET', `${invoice}/files`)
  rmSync(join(ctx.config.DATA_DIR, 'storage'), { recursive: true })
  await tell('file_unavailable', 'GET', `${invoice}/file`)

  await tell('backend_in_use', 'DELETE', disk)
  await tell(200, 'POST', `${disk}/deactivate`, { body: {} })
  await tell(200, 'GET', base)
  await tell(204, 'DELETE', archive)
}
