// Into the console and out of it: a token is traded for a cookie and stays nowhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'

/** Everything that a script of the page can read. */
const readable = (page: Page) =>
  page.evaluate<string>(
    'JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.referrer])',
  )

test(
  'a pasted token opens the console, and no script of the page can find it afterwards',
  inBrowser,
  async t => {
    const { open, tokens } = await serveConsole(t)
    const { page, complaints } = await open({ path: '/inventory' })
    const token = await tokens.admin()
    await page.getByLabel('Token').fill(token)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
    assert.equal((await readable(page)).includes(token.slice(-20)), false)
    const cookies = await page.context().cookies()
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [['cloudops_session', true, 'Lax']],
    )
    assert.deepEqual(complaints, [])
  },
)

test(
  'the link with a token signs in, and the address and the history are without it at once',
  inBrowser,
  async t => {
    const { open, tokens, consoleUrl } = await serveConsole(t)
    const { page } = await open({ token: await tokens.admin(), path: '/inventory?kind=volume' })
    await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
    assert.equal(page.url(), `${consoleUrl}/inventory?kind=volume`)
    await page.reload()
    await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
    assert.equal(await page.evaluate('history.length'), 2, 'the blank page and this one')
  },
)

test('a refused token is told with the words of the API, and another can be tried', inBrowser, async t => {
  const { open, tokens, clock } = await serveConsole(t)
  const expired = await tokens.admin({ exp: Math.floor(clock.now().getTime() / 1000) - 60 })
  for (const [token, words] of [
    ['nonsense', 'The token'],
    ['%zz', 'The token'],
    [expired, 'The token has expired.'],
  ] as const) {
    const { page } = await open({ token, path: '/inventory' })
    await page.getByRole('alert').getByText(words).waitFor()
    await page.getByLabel('Token').fill(await tokens.admin())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
  }
})

test('a refused link does not pass for the session that goes on', inBrowser, async t => {
  const { open, tokens, clock, consoleUrl } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path: '/inventory' })
  await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
  const expired = await tokens.tenant('acme', { exp: Math.floor(clock.now().getTime() / 1000) - 60 })
  const told = page.getByRole('alert').getByText('The token has expired.')
  // As a bookmark in the same tab, which changes the fragment alone, and as a page of its own.
  await page.goto(`${consoleUrl}/inventory#token=${expired}`)
  await told.waitFor()
  await page.goto('about:blank')
  await page.goto(`${consoleUrl}/inventory#token=${expired}`)
  await told.waitFor()
  await page.getByText('platform admin').waitFor()
})

test(
  'a session that ends under a page asks for a token over it, and what was typed is still there',
  inBrowser,
  async t => {
    const { open, tokens, clock } = await serveConsole(t)
    const { page } = await open({ token: await tokens.admin(), path: '/inventory' })
    const [name, region] = [page.getByLabel('Name (exact)'), page.getByLabel('Region')]
    await name.fill('half a na')
    clock.advance(2 * 3_600_000)
    await page.getByLabel('Kind').selectOption('volume')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    await assertAccessible(page)
    await dialog.getByLabel('Token').fill(await tokens.admin())
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('No resource matches').waitFor()
    assert.deepEqual([await region.inputValue(), await name.inputValue()], ['', 'half a na'])
  },
)

test('signing out ends the session on the server', inBrowser, async t => {
  const { open, tokens, consoleUrl } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path: '/inventory' })
  await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
  const [cookie] = await page.context().cookies()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  assert.deepEqual(await page.context().cookies(), [])
  const headers = { cookie: `${cookie!.name}=${cookie!.value}` }
  assert.equal((await fetch(`${consoleUrl}/api/v1/session`, { headers })).status, 401)
})
