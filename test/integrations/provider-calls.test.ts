import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { isKind, type Kind, kindNames, ProviderError } from '../../src/integrations/digitalocean/index.ts'
import { fixture, numbered, pageOf, type Reply, type Seen, setup } from './scripted-provider.ts'

const notFound: Reply = { status: 404, body: fixture('error.404') }
const specification = JSON.parse(
  readFileSync(
    new URL('../../src/integrations/digitalocean/specification/openapi.json', import.meta.url),
    'utf8',
  ),
)
const ajv = new Ajv({ strict: false, unicodeRegExp: false })
addFormats.default(ajv)
ajv.addSchema(specification, 'specification')

/** The body that was sent, held against the official specification of its endpoint. */
function documentedBody({ body }: Seen, path: string): unknown {
  const at = `paths/${path.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`
  const parsed = JSON.parse(body)
  const valid = ajv.validate({ $ref: `specification#/${at}` }, parsed)
  assert.ok(valid, ajv.errorsText())
  return parsed
}

const singles: Record<Exclude<Kind, 'registry'>, [name: string, key: string, path: string]> = {
  droplet: ['droplets.get', 'droplet', '/v2/droplets/3164444'],
  volume: ['volumes.get', 'volume', '/v2/volumes/'],
  snapshot: ['snapshots.get', 'snapshot', '/v2/snapshots/'],
  image: ['images.get', 'image', '/v2/images/'],
  load_balancer: ['load_balancers.get', 'load_balancer', '/v2/load_balancers/'],
  reserved_ip: ['reserved_ips.get', 'reserved_ip', '/v2/reserved_ips/'],
  firewall: ['firewalls.get', 'firewall', '/v2/firewalls/'],
  vpc: ['vpcs.get', 'vpc', '/v2/vpcs/'],
  domain: ['domains.get', 'domain', '/v2/domains/'],
  ssh_key: ['ssh_keys.get', 'ssh_key', '/v2/account/keys/'],
  database: ['databases.get', 'database', '/v2/databases/'],
  kubernetes_cluster: ['kubernetes_clusters.get', 'kubernetes_cluster', '/v2/kubernetes/clusters/'],
  app: ['apps.get', 'app', '/v2/apps/'],
}

for (const [kind, [name, key, path]] of Object.entries(singles)) {
  test(`a single ${kind} is read from its own endpoint, and is null when there is none`, async t => {
    assert.ok(isKind(kind))
    const item = fixture(name)[key] as Record<string, unknown>
    const id = String(item.id ?? item.ip ?? item.name)
    const { provider, requests } = await setup(t, (_, count) =>
      count === 1 ? { body: fixture(name) } : notFound,
    )
    assert.deepEqual(await provider.get(kind, id), item)
    assert.ok(requests[0]?.path.startsWith(path), requests[0]?.path)
    assert.equal(await provider.get(kind, id), null)
  })
}

test('a single registry or IPv6 address is found in its listing', async t => {
  const address = { ip: 'fd53::1', region_slug: 'nyc3' }
  const { provider } = await setup(t, ({ path, query }) => {
    if (path === '/v2/registries') return { body: fixture('registries.list') }
    return path === '/v2/reserved_ipv6'
      ? pageOf('reserved_ipv6s', [address], query)
      : pageOf('reserved_ips', [], query)
  })
  assert.equal((await provider.get('registry', 'example'))?.region, 'fra1')
  assert.equal(await provider.get('registry', 'other'), null)
  assert.deepEqual(await provider.get('reserved_ip', 'fd53::1'), address)
})

test('not being in half a listing is not being absent', async t => {
  const { provider } = await setup(t, () => ({ body: {} }))
  await assert.rejects(provider.get('registry', 'example'), ProviderError)
})

test('an answer about another resource is refused', async t => {
  const { provider } = await setup(t, () => ({ body: fixture('droplets.get') }))
  await assert.rejects(provider.get('droplet', '1'), /another was answered/)
})

test('an id cannot climb to another endpoint', async t => {
  const { provider, requests } = await setup(t, () => notFound)
  for (const id of ['', '.', '..']) await assert.rejects(provider.get('droplet', id), TypeError)
  await provider.get('domain', '../account?x=1#y')
  assert.deepEqual(
    requests.map(({ path, query }) => [path, query.size]),
    [['/v2/domains/..%2Faccount%3Fx%3D1%23y', 0]],
  )
})

test('every kind has a listing the specification knows', async t => {
  const { provider, requests } = await setup(t, () => ({ body: {} }))
  const kinds =
    'app database domain droplet firewall image kubernetes_cluster load_balancer registry reserved_ip snapshot ssh_key volume vpc'
  assert.deepEqual([...kindNames].sort(), kinds.split(' '))
  for (const kind of kindNames) await provider.list(kind)
  for (const { path } of requests) assert.ok(specification.paths[path]?.get, path)
})

test('a droplet is created with its tags in a documented request', async t => {
  const { provider, requests } = await setup(t, () => ({ status: 202, body: fixture('droplets.create') }))
  const input = {
    name: 'web-1',
    region: 'nyc3',
    size: 's-1vcpu-1gb',
    image: 'ubuntu-24-04-x64',
    tags: ['saga:0190', 'deployment:7'],
  }
  const { droplet, actionIds } = await provider.createDroplet(input)
  assert.deepEqual([droplet.id, actionIds], [3164444, ['7515']])
  const sent = requests[0] as Seen
  assert.deepEqual(
    [sent.method, sent.path, sent.headers['content-type']],
    ['POST', '/v2/droplets', 'application/json'],
  )
  assert.deepEqual(documentedBody(sent, '/v2/droplets'), input)
})

test('droplets are found by tag, GPU ones too', async t => {
  const gpus = [{ id: 7, tags: ['saga:1'] }, { id: 8, tags: ['other'] }, { id: 9 }]
  const { provider, requests } = await setup(t, ({ query }) =>
    query.get('type') === 'gpus' ? pageOf('droplets', gpus, query) : pageOf('droplets', numbered(2), query),
  )
  assert.deepEqual(
    (await provider.findDropletsByTag('saga:1')).map(({ id }) => id),
    [1, 2, 7],
  )
  assert.equal(requests[0]?.query.get('tag_name'), 'saga:1')
})

test('a search by tag that could not be read whole finds nothing out', async t => {
  const { provider } = await setup(t, () => ({ body: { droplets: [], meta: { total: 1 } } }))
  await assert.rejects(provider.findDropletsByTag('saga:1'), /could not be listed whole/)
})

test('a droplet is destroyed, and destroying what is gone is fine', async t => {
  const { provider, requests } = await setup(t, (_, count) => (count === 1 ? { status: 204 } : notFound))
  assert.equal(await provider.destroyDroplet('3164444'), 'destroyed')
  assert.equal(await provider.destroyDroplet('3164444'), 'absent')
  assert.deepEqual([requests[0]?.method, requests[0]?.path], ['DELETE', '/v2/droplets/3164444'])
})

test('a droplet action is sent and can be followed', async t => {
  const { provider, requests } = await setup(t, ({ method, path }) => {
    if (method === 'POST') return { status: 201, body: fixture('droplet_actions.create') }
    return path.endsWith('/1') ? notFound : { body: fixture('actions.get') }
  })
  const action = await provider.dropletAction('3164444', { type: 'power_off' })
  assert.deepEqual(action, { id: '36804636', status: 'completed', type: 'create' })
  documentedBody(requests[0] as Seen, '/v2/droplets/{droplet_id}/actions')
  assert.equal((await provider.getAction(action.id))?.id, action.id)
  assert.equal(await provider.getAction('1'), null)
})

test('projects and what they hold are listed like everything else', async t => {
  const { provider, requests } = await setup(t, ({ path }) => ({
    body: fixture(path === '/v2/projects' ? 'projects.list' : 'projects.resources.list'),
  }))
  const projects = await provider.projects()
  assert.equal(projects.items[0]?.name, 'my-web-api')
  const held = await provider.projectResources('4e1bfbc3-dc3e-41f2-a18f-1b4d7ba71679')
  assert.equal(held.items[0]?.urn, 'do:droplet:13457723')
  assert.equal(requests[1]?.path, '/v2/projects/4e1bfbc3-dc3e-41f2-a18f-1b4d7ba71679/resources')
})

test('the default project is known by itself', async t => {
  const { provider } = await setup(t, () => ({ body: fixture('projects.get_default') }))
  assert.equal((await provider.getDefaultProject()).is_default, true)
})

test('a project is made and given resources in documented requests', async t => {
  const { provider, requests } = await setup(t, ({ path }) =>
    path === '/v2/projects'
      ? { status: 201, body: fixture('projects.create') }
      : { body: fixture('projects.resources.assign') },
  )
  const project = await provider.createProject({
    name: 'tenant-1',
    purpose: 'Service or API',
    environment: 'Production',
  })
  assert.equal(typeof project.id, 'string')
  documentedBody(requests[0] as Seen, '/v2/projects')
  const assigned = await provider.assignToProject(String(project.id), ['do:droplet:13457723'])
  assert.deepEqual(assigned[0], { urn: 'do:droplet:13457723', status: 'ok' })
  documentedBody(requests[1] as Seen, '/v2/projects/{project_id}/resources')
})

test('tags are listed and made', async t => {
  const { provider, requests } = await setup(t, ({ method }) =>
    method === 'POST' ? { status: 201, body: fixture('tags.create') } : { body: fixture('tags.list') },
  )
  assert.equal((await provider.listTags()).items[0]?.name, 'extra-awesome')
  await provider.createTag('saga:1')
  assert.deepEqual(documentedBody(requests[1] as Seen, '/v2/tags'), { name: 'saga:1' })
})

test('the account that pays is the team’s where the token acts for one, else its owner’s', async t => {
  const { account } = fixture('account.get') as { account: Record<string, unknown> }
  const read = async (fields: object) => {
    const { provider } = await setup(t, () => ({ body: { account: { ...account, ...fields } } }))
    return provider.account()
  }
  const team = { account_id: '5df3e3004a17e242b7c20ca6c9fc25b701a47ece', name: 'My Team' }
  const owner = { account_id: 'b6fr89dbf6d9156cace5f3c78dc9851d957381ef', name: 'Sammy the Shark' }
  assert.deepEqual(await read({}), team)
  assert.deepEqual(await read({ team: undefined }), owner)
  for (const name of [undefined, ' ', 'a\u0000b', 7])
    assert.deepEqual(await read({ team: undefined, name }), { ...owner, name: null })
  assert.equal((await read({ team: { uuid: 't', name: ` ${'x'.repeat(300)}` } })).name, 'x'.repeat(255))
  await assert.rejects(read({ team: {} }), /uuid/)
  const { provider } = await setup(t, () => ({ body: {} }))
  await assert.rejects(provider.account(), /has no account/)
})

test('the balance is exact text', async t => {
  const { provider } = await setup(t, () => ({ body: fixture('balance.get') }))
  assert.deepEqual(await provider.balance(), fixture('balance.get'))
})

test('a balance that is a float is refused', async t => {
  const { provider } = await setup(t, () => ({ body: { ...fixture('balance.get'), account_balance: 12.23 } }))
  await assert.rejects(provider.balance(), /account_balance/)
})

test('invoices are read from every page and the preview is none of them', async t => {
  const { invoices, invoice_preview } = fixture('invoices.list')
  const header = (invoices as Record<string, unknown>[])[0] as Record<string, unknown>
  const all = [1, 2, 3].map(n => ({ ...header, invoice_uuid: `uuid-${n}` }))
  const { provider } = await setup(
    t,
    ({ query }) => {
      const page = pageOf('invoices', all, query)
      return { body: { ...(page.body as object), invoice_preview } }
    },
    { perPage: 2 },
  )
  const { items, complete, pages } = await provider.invoices()
  assert.deepEqual([complete, pages], [true, 2])
  assert.deepEqual(items, all)
})

test('an invoice’s CSV comes as the bytes it is', async t => {
  const csv = readFileSync(new URL('../fixtures/digitalocean/invoice.csv', import.meta.url))
  const { provider, requests } = await setup(t, () => ({
    headers: { 'content-type': 'text/csv' },
    body: csv,
  }))
  const chunks: Buffer[] = []
  for await (const chunk of await provider.invoiceCsv('22737513-0ea7-4206-8ceb-98a575af7681')) {
    chunks.push(Buffer.from(chunk))
  }
  assert.deepEqual(Buffer.concat(chunks), csv)
  assert.equal(requests[0]?.path, '/v2/customers/my/invoices/22737513-0ea7-4206-8ceb-98a575af7681/csv')
})

test('a CSV that breaks off fails its reader', async t => {
  const { provider } = await setup(t, () => ({
    headers: { 'content-type': 'text/csv' },
    body: 'a,b\n',
    fault: 'cut',
  }))
  const stream = await provider.invoiceCsv('uuid')
  await assert.rejects(async () => {
    for await (const _ of stream);
  })
})

test('a page in place of a CSV, and the preview’s CSV, are refused', async t => {
  const { provider } = await setup(t, () => ({ headers: { 'content-type': 'text/html' }, body: '<html>' }))
  await assert.rejects(provider.invoiceCsv('uuid'), /not a file/)
  await assert.rejects(provider.invoiceCsv('preview'), TypeError)
})

test('a CSV that is not there yet is asked for again, one that does not exist is an error', async t => {
  const { provider, requests } = await setup(t, (_, count) => (count === 1 ? { status: 503 } : notFound))
  await assert.rejects(provider.invoiceCsv('uuid'), (error: ProviderError) => error.status === 404)
  assert.equal(requests.length, 2)
})
