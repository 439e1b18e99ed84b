// The last page of a million rows beside the first: a page must cost the same however deep it lies.
import { deepStrictEqual } from 'node:assert'
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { bodyOf, details, PATH, ROUNDS, round, warmUp } from '../list.ts'
import { underLoad } from '../load.ts'
import { MILLION, millionResources } from '../million-resources.ts'
import { alternate, median } from '../rounds.ts'
import { startServer } from '../server-process.ts'
import { headersFor, serviceEnvironment } from '../service-environment.ts'

export default {
  name: 'inventory-last-page',
  measures: `the last page of \`GET ${PATH}\` as a platform_admin over all 1,000,000 resources, through the service.`,
  peer: 'the first page of the same listing, through the same process.',
  unit: 'requests/s',
  bar: { atLeast: 0.9 },
  measure,
} satisfies Figure

async function measure(bench: Bench): Promise<Measurement> {
  const url = await millionResources(bench)
  const environment = serviceEnvironment(url)
  const service = await startServer('service.ts', environment)
  const headers = await headersFor(environment.JWT_SECRET, { role: 'platform_admin' })
  const lastPath = `${PATH}&cursor=${await lastCursor(url)}`
  const [first, last] = [
    await bodyOf(service.url + PATH, headers),
    await bodyOf(service.url + lastPath, headers),
  ]
  deepStrictEqual([first.data.length, last.data.length], [100, 100])
  deepStrictEqual([first.next_cursor === null, last.next_cursor === null], [false, true])

  bench.say(`warming up, then ${ROUNDS} rounds`)
  await underLoad(service, warmUp(PATH, headers))
  await underLoad(service, warmUp(lastPath, headers))
  const rounds = await alternate(
    ROUNDS,
    () => underLoad(service, round(lastPath, headers)),
    () => underLoad(service, round(PATH, headers)),
  )
  await service.stop()
  return {
    ours: median(rounds.map(({ ours }) => ours.perSecond)),
    peer: median(rounds.map(({ peer }) => peer.perSecond)),
    details: details(rounds, ['last page', 'first page']),
  }
}

/** As following next_cursor through all the pages would give it. */
async function lastCursor(url: string): Promise<string> {
  const [row] = await query(url, 'select id from cloud_resources order by id offset $1 limit 1', [
    MILLION - 101,
  ])
  return Buffer.from(JSON.stringify(['inventory', (row as { id: string }).id])).toString('base64url')
}
