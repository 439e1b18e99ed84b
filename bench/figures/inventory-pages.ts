// A page of resources among a million: of one tenant, beside a route written by hand; and the last page beside the first,
// for a page must cost the same however deep it lies.
import { deepStrictEqual } from 'node:assert'
import { query } from '../database.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { bodyOf, measureUnderLoad, type Page } from '../load.ts'
import { startBareRoutes, startService } from '../process.ts'
import { MILLION, millionResources } from './inventory-sweeps.ts'

const TENANT = 'tenant-500'
const PATH = '/api/v1/inventory?limit=100'
const what = '1,000,000 droplets in 1,000 tenants, filled by a first sweep. '

const list: Figure = {
  name: 'inventory-list',
  measures: `\`GET ${PATH}\` of one tenant of 1,000 among 1,000,000 resources, through the service: JWT, tenancy, validation, rate limit, security headers, CORS, request log, metrics, and how fresh each kind is.`,
  peer: 'a bare Fastify route with a hand-written, named `pg` query for the same rows and `JSON.stringify`: no authentication, no validation, no log, no freshness.',
  unit: 'requests/s',
  bar: { atLeast: 1 },
  measure: measureList,
}

async function measureList(bench: Bench): Promise<Measurement> {
  const url = await millionResources(bench)
  const service = await startService(url, { tenant_id: TENANT })
  const ours = { ...service, path: PATH }
  const peer = { ...ours, server: await startBareRoutes(url, { TENANT }) }
  const { as_of, known_since, ...page } = await bodyOf<Page>(ours)
  deepStrictEqual(await bodyOf(peer), page)
  deepStrictEqual(page.data.length, 100)
  const measured = await measureUnderLoad(bench, ours, peer, { what })
  await ours.server.stop()
  await peer.server.stop()
  return measured
}

const lastPage: Figure = {
  name: 'inventory-last-page',
  measures: `the last page of \`GET ${PATH}\` as a platform_admin over all 1,000,000 resources, through the service.`,
  peer: 'the first page of the same listing, through the same process.',
  unit: 'requests/s',
  bar: { atLeast: 0.9 },
  measure: measureLastPage,
}

async function measureLastPage(bench: Bench): Promise<Measurement> {
  const url = await millionResources(bench)
  const service = await startService(url, { role: 'platform_admin' })
  const first = { ...service, path: PATH }
  const last = { ...service, path: `${PATH}&cursor=${await lastCursor(url)}` }
  const pages = [await bodyOf<Page>(first), await bodyOf<Page>(last)]
  deepStrictEqual(
    pages.map(({ data, next_cursor }) => [data.length, next_cursor === null]),
    [
      [100, false],
      [100, true],
    ],
  )
  const measured = await measureUnderLoad(bench, last, first, { names: ['last page', 'first page'], what })
  await service.server.stop()
  return measured
}

/** As following next_cursor through all the pages would give it. */
async function lastCursor(url: string): Promise<string> {
  const [row] = await query(url, 'select id from cloud_resources order by id offset $1 limit 1', [
    MILLION - 101,
  ])
  return Buffer.from(JSON.stringify(['inventory', (row as { id: string }).id])).toString('base64url')
}

export default [list, lastPage]
