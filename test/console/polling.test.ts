// What a page shows stays as fresh as it says while somebody looks at it, and asks for nothing while nobody does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { inBrowser, serveConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'

/** As if another tab were put in front of this one, or taken away. */
const show = (page: Page, shown: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${shown ? 'visible' : 'hidden'}' })
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!shown} })
    document.dispatchEvent(new Event('visibilitychange'))`)

test(
  'a page asks again while it is seen, never while it is hidden, and at once when it is seen again',
  inBrowser,
  async t => {
    const { open, tokens } = await serveConsole(t)
    const { page } = await open({ token: await tokens.admin(), path: '/admin/tasks' })
    await page.getByRole('row').nth(1).waitFor()
    // Minutes pass in the page without anybody waiting for them.
    await page.clock.install()
    await page.reload()
    await page.getByRole('row').nth(1).waitFor()
    let asked = 0
    page.on('request', request => {
      if (request.url().includes('/api/')) asked += 1
    })
    const answered = () => page.waitForResponse(response => response.url().includes('/scheduled_tasks'))
    for (let time = 1; time <= 3; time++) {
      const answer = answered()
      await page.clock.fastForward(5_000)
      await answer
      await eventually('it has asked once more', async () => asked === time)
    }

    await show(page, false)
    for (let minute = 0; minute < 10; minute++) await page.clock.fastForward(60_000)
    assert.equal(asked, 3, 'ten minutes have passed')

    const answer = answered()
    await show(page, true)
    await page.clock.fastForward(1)
    await answer
    assert.equal(asked, 4)
    const next = answered()
    await page.clock.fastForward(5_000)
    await next
    assert.equal(asked, 5)
  },
)
