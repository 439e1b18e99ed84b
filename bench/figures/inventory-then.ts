// The inventory at a moment of a year, and the changes of a day, beside today's list: all through the same process.
import { deepStrictEqual } from 'node:assert'
import { query } from '../database.ts'
import { type Bench, type Figure, type Measurement, median, table, thousands } from '../figure.ts'
import { HISTORY_TENANTS, RESOURCES, VERSIONS, yearOfHistory } from '../history.ts'
import { bodyOf, measureUnderLoad, type Page, type Side } from '../load.ts'
import { startService } from '../process.ts'

const INVENTORY = '/api/v1/inventory'
const TODAY = `${INVENTORY}?limit=100`
/** So many pages of each list are asked for in turn. */
const PAGES = 10
const TENANT = `tenant-${HISTORY_TENANTS / 2}`
const size = `${thousands(RESOURCES)} resources with ${thousands(RESOURCES * VERSIONS)} versions`

const beside = {
  peer: `the first ${PAGES} pages of \`GET ${TODAY}\`, as it is now, through the same process.`,
  unit: 'µs',
  bar: { atMost: 1.5 },
} as const

interface Asked {
  /** Measured under load. */
  path: string
  /** Whose rows lie far apart or at the end: asked one at a time. */
  others: string[]
}

/** The times that are asked about, and the id that the last page of the earliest begins with. */
interface Times {
  early: string
  dayBefore: string
  middle: string
  nearEnd: string
}

const then: Figure = {
  ...beside,
  name: 'inventory-then-list',
  measures: `time for one of the first ${PAGES} pages of \`GET ${TODAY}&at=\` half a year ago, as a platform_admin, over ${size}.`,
  measure: bench =>
    measure(bench, ({ early, middle, nearEnd }) => ({
      path: `${TODAY}&at=${middle}`,
      others: [
        `?at=${early}&cursor=${Buffer.from(JSON.stringify(['inventory', nearEnd])).toString('base64url')}`,
        ...[early, middle].flatMap(at =>
          [
            ...['region=syd1', 'status=off', 'status=archive', 'region=syd1&status=off', 'tag=legacy'],
            ...['tag=nothing', 'kind=snapshot', 'name=node-7', `tenant_id=${TENANT}`],
            `tenant_id=${TENANT}&status=off`,
          ].map(filter => `?at=${at}&${filter}`),
        ),
      ],
    })),
}

const changes: Figure = {
  ...beside,
  name: 'inventory-changes',
  measures: `time for one of the first ${PAGES} pages of \`GET ${INVENTORY}/changes?limit=100&from=&to=\` of a day half a year ago, as a platform_admin, over ${size}.`,
  measure: bench =>
    measure(bench, ({ dayBefore, middle }) => {
      const day = `/changes?from=${dayBefore}&to=${middle}`
      return {
        path: `${INVENTORY}${day}&limit=100`,
        others: ['change=added', 'change=gone', 'kind=snapshot', `tenant_id=${TENANT}`].map(
          filter => `${day}&${filter}`,
        ),
      }
    }),
}

async function measure(bench: Bench, asked: (times: Times) => Asked): Promise<Measurement> {
  const url = await yearOfHistory(bench)
  const { path, others } = asked(await timesOf(url))
  const service = await startService(url, { role: 'platform_admin' })
  const ours = await pagesInTurn({ ...service, path })
  const today = await pagesInTurn({ ...service, path: TODAY })
  const measured = await measureUnderLoad(bench, ours, today, { names: ['then', 'today'] })
  const alone = await oneByOne(service, others)
  await service.server.stop()
  // As time, which the bar is about.
  return {
    ours: 1e6 / measured.ours,
    peer: 1e6 / measured.peer,
    details: [...measured.details, '', ...alone],
  }
}

async function timesOf(url: string): Promise<Times> {
  const [row] = await query(
    url,
    `with times as (
      select end_at - interval '330 days' as early, end_at - interval '180 days' as middle, end_at - interval '181 days' as "dayBefore"
      from (select date_trunc('hour', max(valid_from)) as end_at from resource_versions) e)
     select to_char(early at time zone 'UTC', f) as early, to_char(middle at time zone 'UTC', f) as middle,
       to_char("dayBefore" at time zone 'UTC', f) as "dayBefore", (
       select id from cloud_resources where first_seen_at <= early order by first_seen_at desc, id desc offset 50 limit 1) as "nearEnd"
     from times, (select 'YYYY-MM-DD"T"HH24:00:00"Z"' as f) f`,
  )
  return row as Times
}

/** As a reader of the whole list asks for them. */
async function pagesInTurn(side: Side): Promise<Side> {
  const paths = [side.path]
  while (paths.length < PAGES) {
    const { data, next_cursor } = await bodyOf<Page>({ ...side, path: paths.at(-1)! })
    deepStrictEqual([data.length, next_cursor === null], [100, false], side.path)
    paths.push(`${side.path}&cursor=${next_cursor}`)
  }
  let asked = 0
  return { ...side, next: () => ({ method: 'GET', path: paths[asked++ % PAGES]! }) }
}

const TIMES = 5

async function oneByOne(service: Pick<Side, 'server' | 'headers'>, questions: string[]): Promise<string[]> {
  const rows: [string, number, string][] = []
  for (const question of ['?limit=100', ...questions]) {
    const side = { ...service, path: INVENTORY + question }
    const { data } = await bodyOf<Page>(side)
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      const began = performance.now()
      await bodyOf(side)
      times.push(performance.now() - began)
    }
    rows.push([
      `\`${question.replace(/cursor=.*/, 'cursor=(last page)')}\``,
      data.length,
      median(times).toFixed(1),
    ])
  }
  return [
    `One at a time, as a platform_admin; the median of ${TIMES}:`,
    '',
    ...table([`\`GET ${INVENTORY}…\``, 'Rows', 'ms'], rows),
  ]
}

export default [then, changes]
