// The console's way through time: the inventory and a resource as they were, what changed in between, and what belongs to what.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaleOf } from '../../console/src/moments.ts'
import { recordGone } from '../../src/features/inventory/index.ts'
import { assertAccessible, inBrowser, type Served, serveConsole } from '../support/console.ts'
import { haveProject, rowOf, see, sightingOf } from '../support/sweep.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const phone = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const
const hostile = 'web-<img src=x onerror="document.title=1">'

test('a slider has whole steps where its reader is, no more than can be told apart, and ends with now', () => {
  const noon = Date.UTC(2026, 10, 16, 12)
  const short = scaleOf(noon - 90 * MINUTE - 1, noon, 0)
  assert.equal(short.last - short.first, 91, 'by the minute')
  assert.equal(short.momentAt(short.last), undefined, 'now')
  assert.equal(short.momentAt(short.last - 1), noon - MINUTE)
  assert.equal(short.momentAt(short.first), noon - 90 * MINUTE - 1, 'never before what is known')
  assert.deepEqual([noon - MINUTE, noon - 30_000, noon + HOUR, 0].map(short.positionOf), [
    short.last - 1,
    short.last - 1,
    short.last - 1,
    short.first,
  ])
  for (const [days, step] of [
    [20, HOUR],
    [21, 6 * HOUR],
    [125, 6 * HOUR],
    [126, DAY],
    [4000, DAY],
  ] as const) {
    const { first, momentAt } = scaleOf(noon - days * DAY, noon, 0)
    assert.equal(momentAt(first + 2)! - momentAt(first + 1)!, step, `${days} days`)
  }
  // Two hours ahead of UTC, a day begins at 22:00 of the day before.
  const ahead = scaleOf(noon - 300 * DAY, noon, -2 * HOUR)
  assert.equal(ahead.momentAt(ahead.last - 1), Date.UTC(2026, 10, 15, 22))
  const nothing = scaleOf(noon, noon, 0)
  assert.deepEqual([nothing.last - nothing.first, nothing.momentAt(nothing.first)], [1, noon])
})

/** Three days ago two droplets; a day ago one of them was renamed and switched off, one went, and a volume came. */
async function history(served: Served): Promise<{ id: string; before: string }> {
  const now = Date.now()
  const back = (days: number) => served.clock.set(new Date(now - days * DAY).toISOString())
  back(3)
  await haveProject(served, 'p', 'acme', [
    ['droplet', '1'],
    ['volume', 'v'],
  ])
  await see(served, 'droplet', [
    { provider_id: '1', name: hostile },
    { provider_id: '2', name: 'db' },
  ])
  back(1)
  await see(served, 'droplet', [{ provider_id: '1', name: 'www', status: 'off' }])
  await recordGone(served.ctx.db, await sightingOf(served, 'droplet'), { providerIds: ['2'] })
  await see(served, 'volume', [{ provider_id: 'v', name: 'data', attrs: { droplet_ids: [1] } }])
  back(0)
  const { id } = await rowOf(served, 'droplet', '1')
  return { id, before: new Date(now - 2 * DAY).toISOString() }
}

test(
  'the inventory and a resource are shown as they were, by slider, field and address',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { id, before } = await history(served)
    const { page, complaints } = await served.open({
      token: await served.tokens.admin(),
      path: '/inventory?kind=droplet',
      timezoneId: 'America/New_York',
    })
    const table = page.getByRole('table', { name: 'Resources' })
    const moment = page.getByRole('group', { name: 'Moment shown' })
    const names = () => table.getByRole('link').allInnerTexts()
    await table.getByText('www').waitFor()
    await moment.getByText('As it is now. The past is known since').waitFor()
    await moment.getByRole('slider', { name: 'How far back' }).focus()
    await page.keyboard.press('Home')
    await page.waitForURL(/\?kind=droplet&at=20/)
    await moment.getByText('Nothing can be changed there.').waitFor()
    await table.getByText('db').waitFor()
    assert.deepEqual((await names()).sort(), ['db', hostile])
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(url => url.searchParams.get('at')?.endsWith(':00.000Z') === true)
    assert.equal(await page.getByLabel('Missing ones only').count(), 0, 'that is known of now alone')
    await assertAccessible(page)
    await page.getByLabel('As it was at').fill('2001-01-01T00:00')
    await page.getByText('No resource matched at that moment.').waitFor()
    await page.goBack()
    await page.waitForURL(/\?kind=droplet$/)
    await table.getByText('www').waitFor()
    assert.deepEqual(await names(), ['www'], 'one step back is now')

    await page.goto(`${served.consoleUrl}/inventory?at=${before}&kind=droplet`)
    await table.getByRole('link', { name: hostile }).click()
    await page.waitForURL(url => url.pathname === `/inventory/${id}` && url.searchParams.get('at') === before)
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor()
    const events = page.getByRole('list', { name: 'Latest events until then, newest first' })
    await events.getByRole('listitem').first().waitFor()
    assert.equal(await events.getByRole('listitem').count(), 1)
    assert.equal(await page.getByRole('button', { name: 'Set…' }).count(), 0, 'the past is not acted on')
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Now' }).click()
    await page.getByRole('heading', { name: 'www', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Set…' }).waitFor()
    await page.goto(`${served.consoleUrl}/inventory?at=2999-01-01T00:00:00Z`)
    await page.getByRole('alert').getByText('must not be in the future').first().waitFor()
    await page.goto(`${served.consoleUrl}/inventory?at=yesterday`)
    await page.getByRole('alert').getByText('?at').first().waitFor()
    assert.deepEqual(complaints, [])
  },
)

test(
  'what changed in a span is told with before and after, to a tenant what was its own',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { before } = await history(served)
    const path = `/inventory?at=${before}`
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path })
    await page.getByRole('link', { name: 'What changed since then' }).click()
    const changes = page.getByRole('list', { name: 'Changes, oldest first' }).getByRole('listitem')
    const told = async () => (await changes.allInnerTexts()).map(text => text.split('\n')[0]!.trim()).sort()
    await changes.nth(2).waitFor()
    assert.deepEqual(await told(), [
      'added data volume of acme',
      'changed www droplet of acme',
      'gone db droplet',
    ])
    const row = changes.filter({ hasText: 'www' }).getByRole('row')
    assert.deepEqual(
      (await row.allInnerTexts()).map(text => text.split('\t')),
      [
        ['Field', 'Before', 'After'],
        ['name', hostile, 'www'],
        ['status', 'active', 'off'],
      ],
    )
    await assertAccessible(page)
    await page.getByLabel('Change', { exact: true }).selectOption('gone')
    await changes.nth(1).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'db' }).click()
    await page.getByRole('heading', { name: 'db', level: 1 }).waitFor()
    await page.getByText('The past:').waitFor()

    const member = await served.open({ token: await served.tokens.tenant('acme'), path, ...phone })
    const { page: theirs } = member
    await theirs.getByRole('link', { name: hostile }).waitFor()
    assert.equal(await theirs.getByRole('link', { name: 'db' }).count(), 0)
    await assertAccessible(theirs)
    await theirs.getByRole('link', { name: 'What changed since then' }).click()
    const own = theirs.getByRole('list', { name: 'Changes, oldest first' }).getByRole('listitem')
    await own.nth(1).waitFor()
    assert.equal(await own.count(), 2)
    await assertAccessible(theirs)
    await theirs.getByLabel('To').fill('2001-01-01T00:00')
    await theirs.getByRole('alert').getByText('must be before to').first().waitFor()
    await theirs.goto(
      `${served.consoleUrl}/inventory/changes?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z`,
    )
    await theirs.getByText('Nothing: at the end everything was as at the beginning.').waitFor()
    assert.deepEqual([complaints, member.complaints], [[], []])
  },
)

test('a resource names what belongs to it and what breaks if it goes', inBrowser, async t => {
  const served = await serveConsole(t)
  const { id } = await history(served)
  await see(served, 'snapshot', [
    { provider_id: 's', name: 'nightly', attrs: { resource_id: 'v', resource_type: 'volume' } },
  ])
  const { page } = await served.open({
    token: await served.tokens.admin(),
    path: `/inventory/${id}`,
    ...phone,
  })
  const belongs = page.getByRole('table', { name: 'What belongs to it' }).getByRole('row')
  assert.match(await belongs.nth(1).innerText(), /data volume\s+is attached to\s+www droplet/)
  const losses = page.getByRole('table', { name: 'What breaks if it goes' }).getByRole('row')
  assert.match(await losses.nth(1).innerText(), /data volume\s+is left, attached to nothing/)
  await assertAccessible(page)
  await page.getByLabel('Steps away').selectOption('2')
  await page.waitForURL(/\?depth=2$/)
  await belongs.filter({ hasText: 'nightly' }).getByText('is a snapshot of').waitFor()
  await page.getByRole('link', { name: 'nightly' }).click()
  await page.getByRole('heading', { name: 'nightly', level: 1 }).waitFor()
  await page.getByText('Nothing that is known of here.').waitFor()
})
