// The console in a real browser, Debian's Chromium, against the management listener of a test's own bundle.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { buildManagement } from '../../src/management.ts'
import { onPostgresAlone } from './engine.ts'
import { type Bundle, type SetupOptions, setup } from './setup.ts'

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

/** For every test that opens a page. Once, in the run on PostgreSQL: a browser takes as long as a hundred other tests. */
export const inBrowser = {
  skip: onPostgresAlone.skip || (browserPath === undefined && 'there is no Chromium here'),
}

const quiet = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

// One for all tests; each has a context of its own, as a private window is.
let running: Promise<Browser> | undefined
after(async () => (await running)?.close())

export interface Opened {
  page: Page
  /** What the browser complained about: errors of the scripts, and what the page's policy kept from loading. */
  complaints: string[]
}

export interface ConsoleOptions extends BrowserContextOptions {
  /** Signs in with it by the link; none: the page is opened and nobody signs in. */
  token?: string
  path?: string
}

export interface Served extends Bundle {
  /** Where the console is. */
  consoleUrl: string
  open(options?: ConsoleOptions): Promise<Opened>
}

/** A bundle whose clock shows the real time, for the browser drops cookies by its own. */
export async function serveConsole(t: TestContext, options: SetupOptions = {}): Promise<Served> {
  const bundle = await setup(t, options)
  bundle.clock.set(new Date().toISOString())
  const management = await buildManagement({ ctx: bundle.ctx, api: bundle.app, isReady: () => true })
  const address = await management.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => management.close())
  const consoleUrl = address.replace('127.0.0.1', 'localhost')
  return { ...bundle, consoleUrl, open: options => openConsole(t, consoleUrl, options) }
}

/** A window of its own on the console at this address. */
export async function openConsole(
  t: TestContext,
  consoleUrl: string,
  { token, path = '/', ...context }: ConsoleOptions = {},
): Promise<Opened> {
  running ??= chromium.launch({ executablePath: browserPath, args: quiet })
  const window = await (await running).newContext(context)
  t.after(() => window.close())
  const page = await window.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
  })
  await page.goto(`${consoleUrl}${path}${token ? `#token=${token}` : ''}`)
  return { page, complaints }
}

/** What the rows of a table say, its heading first. */
export async function rowsOf(page: Page, table: string): Promise<string[]> {
  const found = page.getByRole('table', { name: table, exact: true })
  await found.waitFor()
  const texts = await found.getByRole('row').allInnerTexts()
  return texts.map(text => text.replaceAll(/\s+/g, ' ').trim())
}

const axe = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** What axe finds on the page as it is, in words. Run beside the page's policy, which would refuse any other script. */
export async function assertAccessible(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  const found = await session.send('Runtime.evaluate', {
    expression:
      'axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" | ")))',
    awaitPromise: true,
    returnByValue: true,
  })
  assert.deepEqual(found.result.value, [])
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  assert.equal(overflow, 0, 'the page is wider than the window')
}
