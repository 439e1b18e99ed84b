// The API reference in a real browser: Debian's Chromium, where it is installed. Once, in the run on PostgreSQL: a browser
// takes as long as a hundred other tests, and the page knows no engine.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { onPostgresAlone } from '../support/engine.ts'
import { preparedFolder, startService } from '../support/process.ts'

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

const quiet = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const skip = onPostgresAlone.skip || (browserPath === undefined && 'there is no Chromium here')

test('a request sent from the reference page is answered, and the page asks no other host', {
  skip,
}, async t => {
  const service = await startService(t, { dataDir: preparedFolder(t) })
  const browser = await chromium.launch({ executablePath: browserPath, args: quiet })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const asked = new Set<string>()
  page.on('request', request => asked.add(new URL(request.url()).origin))

  await page.goto(`${service.managementUrl}/docs`)
  await page
    .getByPlaceholder('Token')
    .first()
    .fill(await service.token({ sub: 'reader' }))
  await page.getByRole('link', { name: 'Service', exact: true }).click()
  await page.getByRole('link', { name: 'Get the current caller' }).first().click()
  await page.getByRole('button', { name: /^Test Request.*get \/api\/v1\/session/ }).click()
  const answered = page.waitForResponse(response => response.url().endsWith('/api/v1/session'))
  await page.getByRole('button', { name: /^Send/ }).first().click()
  const answer = await answered

  assert.equal(answer.status(), 200)
  assert.equal((await answer.json()).data.sub, 'reader')
  assert.deepEqual([...asked], [service.managementUrl])
})
