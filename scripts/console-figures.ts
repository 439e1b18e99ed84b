// How the console bears much: a million resources, a run of 20,000 steps. Time to the first view, and the longest frame
// while it is scrolled, in Debian's Chromium: `npm run console:figures [-- RESOURCES STEPS]`, on a throwaway PostgreSQL.
import { type CDPSession, chromium, type Page } from 'playwright-core'
import { query } from '../bench/database.ts'
import { startService } from '../test/support/process.ts'

const [resources = 1_000_000, steps = 20_000] = process.argv.slice(2).map(Number)
const database = process.env.TEST_DATABASE_URL
if (!database) throw new Error('TEST_DATABASE_URL is not set: start with `npm run console:figures`')

const PAGES = 20

interface Frames {
  longest: number
  frames: number
  over: number
  drawn: number
}

/** What the machine itself takes from a frame. */
const IDLE = `(async () => {
  let longest = 0
  for (let i = 0, last = performance.now(); i < 300; i++) {
    const now = await new Promise(requestAnimationFrame)
    longest = Math.max(longest, now - last)
    last = now
  }
  return { longest }
})()`

const say = (line: string) => void process.stdout.write(`${line}\n`)
const ends: (() => unknown)[] = []

try {
  // No worker: nothing sweeps what is made up here.
  const service = await startService(
    { after: end => void ends.unshift(end) },
    { command: 'api', env: { DATABASE_URL: database } },
  )
  await fillInventory()
  const run = await fillRun()
  await query(database, 'analyze')
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking'],
  })
  ends.unshift(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.goto(`${service.managementUrl}/sweeps#token=${await service.token()}`)
  await page.getByRole('heading', { level: 1 }).waitFor()

  // Twice: the first visit also compiles statements and fills caches.
  const { longest } = await page.evaluate<Frames>(IDLE)
  say(`\na page that does nothing: of 300 frames the longest took ${longest.toFixed(0)} ms here`)
  for (const round of [1, 2]) {
    say(`\nround ${round}`)
    await measureInventory(page, service.managementUrl)
    await measureRun(page, `${service.managementUrl}/sagas/${run}`)
  }
} finally {
  for (const end of ends) await end()
}

async function measureInventory(page: Page, url: string): Promise<void> {
  const table = page.getByRole('table', { name: 'Resources' })
  const first = await timed(async () => {
    await page.goto(`${url}/inventory`)
    await table.getByRole('row').nth(20).waitFor()
  })
  say(`inventory of ${resources}: first view ${first} ms`)
  await page.goto(`${url}/inventory?limit=500`)
  const loading = await timed(async () => {
    for (let shown = 1; shown < PAGES; shown++) {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByText(`${(shown + 1) * 500} shown`).waitFor()
    }
  })
  say(`${PAGES - 1} more pages of 500: ${Math.round(loading / (PAGES - 1))} ms each`)
  await scrollThrough(page, 'Resources', PAGES * 500)
}

async function measureRun(page: Page, url: string): Promise<void> {
  const first = await timed(async () => {
    await page.goto(url)
    await page.getByRole('table', { name: 'Steps' }).getByRole('row').nth(20).waitFor()
  })
  say(`run of ${steps} steps: first view ${first} ms`)
  await scrollThrough(page, 'Steps', steps)
}

/** From the first row to the last, as with a wheel: 600 pixels a frame, then by the scroll bar. */
async function scrollThrough(page: Page, label: string, rows: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  for (const [how, pixels] of [
    ['as with a wheel', 600],
    ['as with the bar', 20_000],
  ] as const) {
    const before = await busySeconds(session)
    const { longest, frames, over, drawn } = await page.evaluate<Frames>(scrolling(label, pixels))
    const each = ((await busySeconds(session)) - before) / frames
    say(
      `  ${rows} rows scrolled ${how}: ${frames} frames of ${(each * 1000).toFixed(1)} ms of computing, ` +
        `the longest took ${longest.toFixed(0)} ms, ${over} over 50 ms; at most ${drawn} rows drawn`,
    )
  }
}

/** What the page's thread has computed, whatever else the machine does meanwhile. */
async function busySeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')!.value
}

/** Runs in the page: the time from frame to frame while the box scrolls. */
function scrolling(label: string, pixels: number): string {
  return `(async () => {
    const box = document.querySelector('[role=group][aria-label="${label}"]')
    const frame = () => new Promise(requestAnimationFrame)
    box.scrollTop = 0
    for (let i = 0; i < 10; i++) await frame()
    const times = []
    let drawn = 0
    let last = await frame()
    for (let i = 0; i < 500 && box.scrollTop + box.clientHeight < box.scrollHeight - 1; i++) {
      box.scrollTop += ${pixels}
      const now = await frame()
      times.push(now - last)
      drawn = Math.max(drawn, box.querySelectorAll('tbody tr').length)
      last = now
    }
    return { longest: Math.max(...times), frames: times.length, over: times.filter(t => t > 50).length, drawn }
  })()`
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await act()
  return Math.round(performance.now() - began)
}

async function fillInventory(): Promise<void> {
  const took = await timed(() =>
    query(
      database!,
      `insert into cloud_resources (id, provider, provider_id, kind, name, region, status, tenant_id, tags, attrs, fingerprint,
        first_seen_at, last_seen_at)
      select (lpad(to_hex(i), 8, '0') || '-0000-7000-8000-000000000000')::uuid, 'digitalocean', i::text,
        (array['droplet', 'volume', 'snapshot'])[1 + i % 3], 'web-' || i, (array['nyc3', 'fra1'])[1 + i % 2], 'active',
        'tenant-' || i % 1000, array['env:prod', 'team:' || i % 40], '{"memory": 1024, "vcpus": 1}', 'f',
        clock_timestamp(), clock_timestamp()
      from generate_series(1, $1::int) as i on conflict do nothing`,
      [resources],
    ),
  )
  say(`${resources} resources made in ${took} ms`)
}

/** A run that took each step some milliseconds; every thousandth was tried twice. */
async function fillRun(): Promise<string> {
  const id = '01900000-0000-7000-8000-000000000001'
  await query(
    database!,
    `insert into saga_runs (id, kind, status, step_modules, current_step_index, inputs, business_key, actor, job_id, heartbeat_at,
      created_at, started_at, finished_at)
    select $1, 'generated', 'completed', array(select 'step_' || i from generate_series(1, $2::int) as i), $2, '{}', 'k', 'figures',
      gen_random_uuid(), now(), now() - interval '1 hour', now() - interval '1 hour', now() on conflict do nothing`,
    [id, steps],
  )
  await query(
    database!,
    `insert into saga_step_results (saga_id, step_idx, name, status, output, started_at, finished_at, attempts)
    select $1, i - 1, 'step_' || i, 'completed', jsonb_build_object('droplet_id', i, 'region', 'nyc3'),
      now() - interval '1 hour' + (i - 1) * interval '1 hour' / $2, now() - interval '1 hour' + i * interval '1 hour' / $2,
      case when i % 1000 = 0 then 2 else 1 end
    from generate_series(1, $2::int) as i on conflict do nothing`,
    [id, steps],
  )
  return id
}
