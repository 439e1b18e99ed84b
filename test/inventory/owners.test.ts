// Who had a resource from when to when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehome } from '../../src/features/inventory/write-resources.ts'
import { newId } from '../../src/kernel/ids.ts'
import { changedHands, haveResource } from '../support/billing.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'

interface Owners {
  valid_from: string
  valid_to: string | null
  tenant_id: string | null
  project_id: string | null
  deployment_id: string | null
}

async function owners({ call, tokens }: Bundle, id: string, tenant?: string, query = ''): Promise<Owners[]> {
  const token = tenant === undefined ? undefined : await tokens.tenant(tenant)
  const { status, body, text } = await call('GET', `/api/v1/inventory/${id}/owners${query}`, { token })
  assert.equal(status, 200, text)
  return body.data
}

/** A droplet that was nobody's in January, acme's from February, acme's for a deployment in March, globex's since May. */
async function roamer(bundle: Bundle) {
  const shop = await deployment(bundle, 'acme')
  const id = await haveResource(bundle, {
    name: 'roamer',
    first: '2026-01-05T08:15:00.000Z',
    tenant: 'globex',
    deployment: null,
  })
  await changedHands(bundle, id, '2026-02-01T00:00:00.000Z', { tenant_id: [null, 'acme'] })
  await changedHands(bundle, id, '2026-03-01T00:00:00.000Z', { deployment_id: [null, shop.id] })
  await changedHands(bundle, id, '2026-04-01T00:00:00.000Z', { deployment_id: [shop.id, null] })
  await changedHands(bundle, id, '2026-05-01T00:00:00.000Z', { tenant_id: ['acme', 'globex'] })
  return { id, shop }
}

const short = ({ valid_from, valid_to, tenant_id, deployment_id }: Owners) => [
  valid_from.slice(5, 10),
  valid_to?.slice(5, 10) ?? null,
  tenant_id,
  deployment_id,
]

test('an operator is told every owner, newest first and page by page', async t => {
  const bundle = await setup(t)
  const { id, shop } = await roamer(bundle)
  const expected = [
    ['05-01', null, 'globex', null],
    ['04-01', '05-01', 'acme', null],
    ['03-01', '04-01', 'acme', shop.id],
    ['02-01', '03-01', 'acme', null],
    ['01-05', '02-01', null, null],
  ]
  assert.deepEqual((await owners(bundle, id)).map(short), expected)
  const paged: Owners[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await bundle.call(
      'GET',
      `/api/v1/inventory/${id}/owners?limit=2${cursor && `&cursor=${cursor}`}`,
    )
    paged.push(...body.data)
    cursor = body.next_cursor
  }
  assert.deepEqual(paged.map(short), expected)
})

test('a tenant is told the times that were its own, and who never had it gets 404', async t => {
  const bundle = await setup(t)
  const { id, shop } = await roamer(bundle)
  assert.deepEqual((await owners(bundle, id, 'globex')).map(short), [['05-01', null, 'globex', null]])
  assert.deepEqual((await owners(bundle, id, 'acme')).map(short), [
    ['04-01', '05-01', 'acme', null],
    ['03-01', '04-01', 'acme', shop.id],
    ['02-01', '03-01', 'acme', null],
  ])
  const get = async (path: string, token?: string | null) =>
    (await bundle.call('GET', `/api/v1/inventory/${path}/owners`, { token })).status
  assert.equal(await get(id, await bundle.tokens.tenant('initech')), 404)
  assert.equal(await get(newId()), 404)
  assert.equal(await get('x'), 404)
  assert.equal(await get(id, null), 401)
})

test('a tenant is told no deployment of another’s that its resource was still tied to', async t => {
  const bundle = await setup(t)
  const shop = await deployment(bundle, 'acme')
  const id = await haveResource(bundle, { name: 'inherited', tenant: 'globex', deployment: shop.id })
  assert.deepEqual((await owners(bundle, id, 'globex')).map(short), [['01-05', null, 'globex', null]])
  assert.deepEqual((await owners(bundle, id)).map(short), [['01-05', null, 'globex', shop.id]])
})

test('changes that leave the owners alone make no new time, and another project does', async t => {
  const bundle = await setup(t)
  const at = () => bundle.clock.now().toISOString()
  const first = await haveProject(bundle, 'one', 'acme', [['droplet', '1']])
  await see(bundle, 'droplet', [{ provider_id: '1', name: 'web' }])
  const began = at()
  const { id } = await rowOf(bundle, 'droplet', '1')
  for (const name of ['renamed', 'again']) {
    bundle.clock.advance(60_000)
    await see(bundle, 'droplet', [{ provider_id: '1', name }])
  }
  assert.deepEqual(await owners(bundle, id), [
    { valid_from: began, valid_to: null, tenant_id: 'acme', project_id: first, deployment_id: null },
  ])
  bundle.clock.advance(60_000)
  await haveProject(bundle, 'one', 'acme')
  const second = await haveProject(bundle, 'two', 'acme', [['droplet', '1']])
  await rehome(bundle.ctx.db, at(), 'test')
  const moved = at()
  assert.deepEqual(
    (await owners(bundle, id, 'acme')).map(({ valid_from, valid_to, project_id }) => [
      valid_from,
      valid_to,
      project_id,
    ]),
    [
      [moved, null, second],
      [began, moved, first],
    ],
  )
})

test('what was deleted was nobody’s from then on', async t => {
  const bundle = await setup(t)
  const id = await haveResource(bundle, { name: 'gone', tenant: 'acme', deleted: '2026-03-05T08:15:00.000Z' })
  assert.deepEqual((await owners(bundle, id, 'acme')).map(short), [['01-05', '03-05', 'acme', null]])
})
