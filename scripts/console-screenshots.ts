// Writes docs/images: pictures of the console, 1280 wide and light, of a service of its own with a simulated provider and
// finance service that has lived through the README's story. `npm run screenshots -- NAME…`: some of them.
// `npm run screenshots -- --review FOLDER NAME…` writes every page as a whole, 1280 and 390 wide, to be looked at.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { buildManagement } from '../src/management.ts'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import { setup } from '../test/support/setup.ts'
import { withPalette } from './screenshots/png.ts'
import { type Shot, shots } from './screenshots/shots.ts'
import { operator, surroundings, tellStory } from './screenshots/story.ts'

const { values, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: { review: { type: 'string' } },
})
const images = values.review ?? join(import.meta.dirname, '../docs/images')
const WIDTHS = values.review ? [1280, 390] : [1280]
const LARGEST = 150_000

const ends: (() => unknown)[] = []
try {
  mkdirSync(images, { recursive: true })
  const { url, story, token } = await serve()
  const browser = await chromium.launch({
    executablePath: ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync),
    args: ['--no-sandbox', '--force-device-scale-factor=1', '--hide-scrollbars'],
  })
  ends.push(() => browser.close())
  const windows = {
    operator: await window(browser, url, token),
    member: await window(browser, url, story.member),
    nobody: await window(browser, url),
  }
  for (const shot of shots(story)) {
    if (chosen.length ? !chosen.includes(shot.name) : shot.review && !values.review) continue
    for (const width of WIDTHS) {
      const name = values.review ? `${shot.name}-${width}.png` : `${shot.name}.png`
      const png = withPalette(await take(windows[shot.by ?? 'operator'], url, shot, width))
      if (png.length > LARGEST && !values.review) throw new Error(`${name} has ${png.length} bytes`)
      writeFileSync(join(images, name), png)
      process.stdout.write(`${name} ${(png.length / 1024).toFixed(0)} KB\n`)
    }
  }
} finally {
  for (const end of ends.reverse()) await end()
}

/** As the tests have it: a service in this process, on free ports. */
async function serve() {
  await prepareDatabases()
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'cloudops-screenshots-'))
  ends.push(() => rmSync(DATA_DIR, { recursive: true, force: true }))
  const context = { after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext
  const bundle = await setup(context, surroundings(DATA_DIR))
  const story = await tellStory(bundle)
  const management = await buildManagement({ ctx: bundle.ctx, api: bundle.app, isReady: () => true })
  ends.push(() => management.close())
  const url = (await management.listen({ host: '127.0.0.1', port: 0 })).replace('127.0.0.1', 'localhost')
  return { url, story, token: await operator(bundle.tokens) }
}

/** Somebody's window, who signs in once: the audit log would be full of it otherwise. */
async function window(browser: Browser, url: string, token?: string): Promise<Page> {
  const context = await browser.newContext({ colorScheme: 'light', timezoneId: 'UTC' })
  const page = await context.newPage()
  if (token) await page.goto(`${url}/#token=${token}`)
  if (token) await page.getByRole('button', { name: 'Sign out' }).waitFor()
  return page
}

/** When all of it is loaded: as much as a window shows, or for a review the whole of it. */
async function take(page: Page, url: string, { path, press, act }: Shot, width: number): Promise<Buffer> {
  await page.setViewportSize({ width, height: 800 })
  await page.goto(`${url}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await loaded(page)
  if (press) await page.getByRole('button', { name: press }).first().click()
  if (act) await act(page)
  await loaded(page)
  const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  if (Number(wider) > 0)
    process.stdout.write(`${path} is ${wider} pixels wider than its window of ${width}\n`)
  return await page.screenshot({ animations: 'disabled', fullPage: !!values.review && !press && !act })
}

async function loaded(page: Page) {
  await page.waitForLoadState('networkidle')
  await page.waitForFunction("!document.querySelector('.loading')")
}
