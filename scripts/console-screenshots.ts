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
  const tokens = { member: story.member, nobody: undefined }
  for (const shot of shots(story)) {
    if (chosen.length ? !chosen.includes(shot.name) : shot.review && !values.review) continue
    for (const width of WIDTHS) {
      const name = values.review ? `${shot.name}-${width}.png` : `${shot.name}.png`
      const png = withPalette(await take(browser, url, shot, width, shot.by ? tokens[shot.by] : token))
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

/** When all of it is loaded: as much as a window shows, or for a review the whole of it. */
async function take(browser: Browser, url: string, { path, press }: Shot, width: number, token?: string) {
  const window = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: 'light',
    timezoneId: 'UTC',
  })
  try {
    const page = await window.newPage()
    await page.goto(token ? `${url}${path}#token=${token}` : `${url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await loaded(page)
    if (press) await page.getByRole('button', { name: press }).first().click()
    await loaded(page)
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (Number(wider) > 0)
      process.stdout.write(`${path} is ${wider} pixels wider than its window of ${width}\n`)
    return await page.screenshot({ animations: 'disabled', fullPage: !!values.review && !press })
  } finally {
    await window.close()
  }
}

async function loaded(page: Page) {
  await page.waitForLoadState('networkidle')
  await page.waitForFunction("!document.querySelector('.loading')")
}
