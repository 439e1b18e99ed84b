// Writes docs/images: a picture of every page of the console, 1280 wide and light, of a service of its own with a simulated
// provider and finance service that has lived through the README's story. `npm run screenshots -- NAME…`: some of them.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, chromium } from 'playwright-core'
import { buildManagement } from '../src/management.ts'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import { setup } from '../test/support/setup.ts'
import { withPalette } from './screenshots/png.ts'
import { type Story, surroundings, tellStory } from './screenshots/story.ts'

interface Shot {
  /** Of the file. */
  name: string
  path: string
  /** Seen by a member of a tenant; unless said so by a platform_admin. */
  member?: boolean
  /** A button to press first, by its name. */
  press?: string
}

/** Every page. One that is not there yet is left out, and said so. */
const shots = ({ deployment, resource, saga, invoice }: Story): Shot[] => [
  { name: 'overview', path: '/' },
  { name: 'inventory', path: '/inventory' },
  { name: 'resource', path: `/inventory/${resource}` },
  { name: 'deployments', path: '/deployments' },
  { name: 'deployment', path: `/deployments/${deployment}` },
  { name: 'catalog', path: '/catalog' },
  { name: 'plan', path: '/catalog/starter' },
  { name: 'drift', path: '/drift' },
  { name: 'sagas', path: '/sagas' },
  { name: 'saga', path: `/sagas/${saga}` },
  { name: 'projects', path: '/projects' },
  { name: 'sweeps', path: '/sweeps' },
  { name: 'costs', path: '/money' },
  { name: 'costs-of-a-tenant', path: '/money', member: true },
  { name: 'invoices', path: '/money/invoices' },
  { name: 'invoice', path: `/money/invoices/${invoice}` },
  { name: 'unmatched', path: '/money/unmatched' },
  { name: 'margins', path: '/money/margins' },
  { name: 'balance', path: '/money/balance' },
  { name: 'tasks', path: '/admin/tasks' },
  { name: 'users', path: '/admin/users' },
  { name: 'webhooks', path: '/admin/webhooks' },
  { name: 'audit', path: '/admin/audit' },
]

const images = join(import.meta.dirname, '../docs/images')
const VIEW = { width: 1280, height: 800 }
const LARGEST = 150_000

const chosen = process.argv.slice(2)
const ends: (() => unknown)[] = []
try {
  mkdirSync(images, { recursive: true })
  const { url, story, token } = await serve()
  const browser = await chromium.launch({
    executablePath: ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync),
    args: ['--no-sandbox', '--force-device-scale-factor=1', '--hide-scrollbars'],
  })
  ends.push(() => browser.close())
  const wanted = shots(story).filter(({ name }) => chosen.length === 0 || chosen.includes(name))
  for (const shot of wanted) {
    const picture = await take(browser, url, shot, shot.member ? story.member : token)
    if (!picture) {
      process.stdout.write(`${shot.name}: there is no ${shot.path}\n`)
      continue
    }
    const png = withPalette(picture)
    if (png.length > LARGEST) throw new Error(`${shot.name} has ${png.length} bytes`)
    writeFileSync(join(images, `${shot.name}.png`), png)
    process.stdout.write(`${shot.name}.png ${(png.length / 1024).toFixed(0)} KB\n`)
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
  return { url, story, token: await bundle.tokens.admin({ sub: 'olivia@example.com' }) }
}

/** As much of the page as there is, when all of it is loaded. */
async function take(browser: Browser, url: string, { path, press }: Shot, token: string) {
  const window = await browser.newContext({ viewport: VIEW, colorScheme: 'light', timezoneId: 'UTC' })
  try {
    const page = await window.newPage()
    await page.goto(`${url}${path}#token=${token}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    if (await page.getByRole('heading', { name: 'No such page' }).count()) return undefined
    if (press) await page.getByRole('button', { name: press }).first().click()
    await page.waitForLoadState('networkidle')
    return await page.screenshot({ animations: 'disabled' })
  } finally {
    await window.close()
  }
}
