// Decides what every sandbox test starts from: a provider of its own on a free port, a clock that moves
// only when told to, and a client that checks each success against the official specification.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { manualClock } from '../../sandbox/clock.ts'
import {
  createSandboxProvider,
  SANDBOX_TOKEN,
  type SandboxProviderOptions,
} from '../../sandbox/provider/server.ts'
import type {
  Action,
  App,
  Cluster,
  Database,
  Domain,
  Droplet,
  Firewall,
  Image,
  LoadBalancer,
  Project,
  ProjectResource,
  Registry,
  ReservedIp,
  ReservedIpv6,
  Snapshot,
  SshKey,
  Volume,
  Vpc,
} from '../../sandbox/world/kinds.ts'
import { operationOf, violations } from './official-schema.ts'

/** Every member an answer may have; which of them it has is what a test looks at. */
export type Shown = {
  droplet: Droplet
  droplets: Droplet[]
  volume: Volume
  volumes: Volume[]
  snapshot: Snapshot
  snapshots: Snapshot[]
  image: Image
  images: Image[]
  load_balancer: LoadBalancer
  reserved_ip: ReservedIp & { droplet: Droplet | null }
  reserved_ips: (ReservedIp & { droplet: Droplet | null })[]
  reserved_ipv6: ReservedIpv6 & { droplet: Droplet | null }
  firewall: Firewall
  vpc: Vpc
  domain: Domain
  domains: Domain[]
  ssh_key: SshKey
  database: Database
  databases: Database[]
  kubernetes_cluster: Cluster
  app: App
  registry: Registry
  action: Action
  actions: Action[]
  project: Project
  projects: Project[]
  resources: ProjectResource[]
  tag: { name: string; resources: { count: number; droplets: { count: number } } }
  invoices: InvoiceHeader[]
  invoice_preview: InvoiceHeader
  invoice_items: { amount: string; product: string; description: string }[]
  billing_history: { amount: string; type: string; invoice_uuid?: string }[]
  amount: string
  taxes: { amount: string }
  overages: { amount: string }
  credits_and_adjustments: { amount: string }
  product_charges: { amount: string; items: { amount: string }[] }
  month_to_date_usage: string
  links: { pages?: Record<string, string>; actions?: { id: number; rel: string; href: string }[] }
  meta: { total: number }
  id: string
  message: string
}

type InvoiceHeader = { invoice_uuid: string; invoice_period: string; amount: string }

export type Answer = { status: number; headers: Headers; text: string; body: Shown }

export async function setup(t: TestContext, options: SandboxProviderOptions = {}) {
  const clock = manualClock()
  const provider = createSandboxProvider({ clock, rateLimits: false, actionDelayMs: 5000, ...options })
  const { url } = await provider.listen()
  t.after(() => provider.close())

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${SANDBOX_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  /** A request whose success must conform; a body that is no JSON stays undefined. */
  const api = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await send(method, path, body)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
    const operation = operationOf(method, path.split('?')[0]!)
    if (response.ok && operation !== undefined && !path.startsWith('/__sandbox')) {
      const wrong = violations(operation, response.status, answer.body)
      assert.deepEqual(wrong, [], `${method} ${path} does not conform to ${operation.id}`)
    }
    return answer
  }

  /** As api, for answers that a fault has spoiled: nothing is checked, nothing is parsed. */
  const raw = async (method: string, path: string, body?: unknown) => {
    const response = await send(method, path, body)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  const get = (path: string) => api('GET', path)
  return { provider, world: provider.world, faults: provider.faults, clock, url, send, api, raw, get }
}
