// The service under comparison: its HTTP application without sockets, over a database that is emptied between histories,
// with the provider's account in this process. Jobs are carried out by the functions that the queue would call.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { pino } from 'pino'
import { buildApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config.ts'
import { type Context, createContext } from '../../../src/context.ts'
import { ingestInvoice } from '../../../src/features/billing/ingest-invoice.ts'
import { upsertInvoices } from '../../../src/features/billing/invoice-store.ts'
import { detectDrift } from '../../../src/features/drift/detect-drift.ts'
import { refreshResource } from '../../../src/features/inventory/actions.ts'
import { syncKind } from '../../../src/features/inventory/sync-kind.ts'
import { syncProjects } from '../../../src/features/inventory/sync-projects.ts'
import { adjustMonths } from '../../../src/features/metering/adjust-months.ts'
import { closeMonths } from '../../../src/features/metering/close-months.ts'
import { meterHours } from '../../../src/features/metering/jobs.ts'
import { createDriver } from '../../../src/features/sagas/driver.ts'
import { registryOf } from '../../../src/features/sagas/step.ts'
import { createProvider, oneProvider } from '../../../src/integrations/digitalocean/index.ts'
import type { Engine } from '../../../src/kernel/db/engine.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { SECRET, type TokenMaker, tokenMaker } from '../../support/tokens.ts'
import { PLANS } from './choices.ts'
import { type Account, createAccount, type Kind } from './provider.ts'
import { CENTS_A_UNIT, priceOf } from './shown.ts'
import { CAST, type Caller, PLATFORM, PROJECTS, ROLES, START } from './world.ts'

export interface Reply {
  status: number
  text: string
}

export interface Service {
  account: Account
  ctx: Context
  clock: { set(at: number): void }
  call(caller: string, method: string, path: string, body?: object): Promise<Reply>
  /** The credential that this caller sends from now on. */
  authenticate(caller: string, credential: string): void
  /** Everything is as at the beginning of a history. */
  reset(): Promise<void>
  sweepKind(kind: Kind): Promise<void>
  sweepProjects(): Promise<void>
  refresh(kind: Kind, providerId: string): Promise<void>
  detectDrift(): Promise<void>
  meter(): Promise<void>
  /** And adjusts those that are closed. */
  closeMonths(): Promise<void>
  ingest(invoice: string, csv: string): Promise<void>
  /** Drives the run to its end. */
  drive(sagaId: string): Promise<void>
  /** Which symbol stands for each id. */
  symbols(): Promise<Map<string, string>>
  close(): Promise<void>
}

/** The catalog is the same in all histories. */
const KEPT = ['schema_migrations', 'plans', 'plan_versions', 'plan_items', 'meters', 'resource_prices']
export const METER = 'calls'
const RESETS_A_VACUUM = 250

const silent = pino({ level: 'silent' })
const HALF_A_YEAR = 15_552_000

export async function openService(engine: Engine): Promise<Service> {
  let now = START
  const clock = {
    now: () => new Date(now),
    set(at: number) {
      now = at
    },
  }
  const account = createAccount()
  const provider = createProvider({
    baseUrl: 'http://provider.test',
    token: 'tenancy',
    fetch: account.fetch,
    limits: { rates: [], endpointRates: {}, backoffBaseMs: 1, pollBaseMs: 1, pollCapMs: 5, destroyMs: 2_000 },
  })
  const { config } = readConfig({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    JWT_SECRET: SECRET,
    SECRET_KEY: 'tenancy-secret-key-4c1be09d27f85a63d1',
    SESSION_SIGNING_SALT: 'tenancy-session-salt-9e3b70c4a8d1f652',
    RATE_LIMIT_PER_MINUTE: '0',
    REQUESTS_AT_ONCE: '64',
  })
  const providers = oneProvider(provider)
  const ctx = await createContext({ config, worker: false, clock, engine, providers, log: silent })
  const app = await buildApp(ctx)
  await app.ready()
  const driver = createDriver(ctx, registryOf(ctx.sagaKinds))
  const tokens = new Map<string, string>()
  const maker = tokenMaker(() => new Date(START))
  const own = new Map<string, string>()
  for (const caller of CAST) own.set(caller.name, await tokenOf(maker, caller))
  const tables = await tablesOf(engine)
  const job = () => ({ id: newId(), signal: new AbortController().signal, log: silent })

  const call: Service['call'] = async (caller, method, path, body) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${tokens.get(caller)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      payload: body && JSON.stringify(body),
    })
    return { status: answer.statusCode, text: answer.body }
  }

  async function made(method: string, path: string, body: object): Promise<Reply> {
    const answer = await call('admin', method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer
  }

  async function seed(): Promise<void> {
    const at = clock.now().toISOString()
    const roles = Object.entries(ROLES).map(([name, permissions]) => ({ name, permissions }))
    const users = CAST.map(({ sub, tenant }) => ({
      id: newId(),
      user_id: sub,
      tenant_id: tenant ?? PLATFORM,
    }))
    await sql`
      with registered as (
        insert into roles (name, permissions, created_at, updated_at)
        select name, permissions, ${at}, ${at}
        from jsonb_to_recordset(${JSON.stringify(roles)}::jsonb) as r (name text, permissions text[])
      )
      insert into users (id, user_id, tenant_id, status, created_at, updated_at)
      select id, user_id, tenant_id, 'active', ${at}, ${at}
      from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as u (id uuid, user_id text, tenant_id text)`.execute(
      ctx.db,
    )
    // What the service remembers of its callers is of another history.
    await made('PATCH', '/admin/roles/reader', { permissions: ROLES.reader })
    await syncProjects(ctx, newId(), job())
    const { rows } = await sql<{ id: string; provider_id: string }>`
      select id, provider_id from cloud_projects`.execute(ctx.db)
    for (const [index, tenant_id] of [undefined, 'acme', 'bolt'].entries()) {
      if (tenant_id === undefined) continue
      const { id } = rows.find(({ provider_id }) => provider_id === PROJECTS[index])!
      await made('PATCH', `/projects/${id}`, { tenant_id, purpose: 'tenant' })
    }
    await made('POST', '/deployments', { tenant_id: 'acme', slug: 'd1' })
    await made('POST', '/deployments', { tenant_id: 'bolt', slug: 'd2' })
  }

  async function fillCatalog(): Promise<void> {
    for (const code of PLANS) {
      await made('POST', '/catalog/plans', { code, name: code })
      const draft = { base_price_cents: priceOf(code), currency: 'USD', items: [] }
      await made('POST', `/catalog/plans/${code}/versions`, draft)
      await made('POST', `/catalog/plans/${code}/versions/1/publish`, {})
    }
    await made('POST', '/catalog/meters', { code: METER, aggregation: 'sum', unit: 'call' })
    const price = { price_cents: CENTS_A_UNIT, currency: 'USD', effective_from: '2026-01-01' }
    await made('POST', '/catalog/resource-prices', { resource_kind: METER, unit: 'call', ...price })
  }

  let resets = 0
  return {
    account,
    ctx,
    clock,
    call,
    authenticate: (caller, credential) => void tokens.set(caller, credential),
    async reset() {
      now = START
      account.items.clear()
      account.projects.splice(0, account.projects.length, ...PROJECTS.map(projectNamed))
      tokens.clear()
      for (const [name, token] of own) tokens.set(name, token)
      await empty(engine, tables)
      // What was deleted is otherwise walked past for ever.
      if (resets % RESETS_A_VACUUM === 0) await engine.session(session => session.query('vacuum'))
      if (resets++ === 0) await fillCatalog()
      await seed()
    },
    async sweepKind(kind) {
      await syncKind(ctx, { kind, sweepId: newId() }, job())
    },
    sweepProjects: () => syncProjects(ctx, newId(), job()),
    async refresh(kind, providerId) {
      await refreshResource(ctx, kind, providerId)
    },
    async detectDrift() {
      await detectDrift(ctx, job())
    },
    async meter() {
      // A run meters a month at most, and the model everything that is due.
      while ((await meterHours(ctx, job())) > 0);
    },
    async closeMonths() {
      await closeMonths(ctx, job())
      await adjustMonths(ctx, job())
    },
    async ingest(invoice_uuid, csv) {
      const listed = { invoice_uuid, invoice_number: null, period: '2026-11-01', amount: '0' }
      await upsertInvoices(ctx.db, [listed], clock.now().toISOString())
      const { rows } = await sql<{ id: string }>`
        select id from cloud_invoices where invoice_uuid = ${invoice_uuid}`.execute(ctx.db)
      const invoiceCsv = async () => Readable.from([Buffer.from(csv)])
      const withFile = { ...ctx, providers: oneProvider({ ...provider, invoiceCsv }) }
      await ingestInvoice(withFile, rows[0]!.id, job())
    },
    async drive(sagaId) {
      await driver.take(sagaId)
      for (;;) {
        const { rows } = await sql<{ status: string }>`
          select status from saga_runs where id = ${sagaId}`.execute(ctx.db)
        if (['completed', 'rolled_back', 'failed'].includes(rows[0]!.status)) return
        await new Promise(resolve => setImmediate(resolve))
      }
    },
    symbols: () => symbolsOf(ctx),
    async close() {
      await app.close()
      await ctx.jobs.stop(1_000)
      await providers.close()
      await ctx.webhookSender.close()
      await ctx.storage.close()
    },
  }
}

const projectNamed = (id: string, index: number) => ({ id, name: id, is_default: index === 0 })

function tokenOf(maker: TokenMaker, { sub, tenant, role }: Caller): Promise<string> {
  const exp = START / 1000 + HALF_A_YEAR
  return role === 'platform_admin' ? maker.admin({ sub, exp }) : maker.tenant(tenant!, { sub, role, exp })
}

const tablesOf = (engine: Engine): Promise<string[]> =>
  engine.session(async session => {
    const rows = await session.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where (schemaname = 'public' and not tablename = any('{${KEPT.join(',')}}'))
          or (schemaname = 'pgboss' and tablename = 'job')`,
    )
    return rows.map(row => String(row.name))
  })

/** A replica's session fires neither the triggers of append-only tables nor those of foreign keys. */
const empty = (engine: Engine, tables: readonly string[]): Promise<unknown> =>
  engine.session(session =>
    session.transaction(tx =>
      tx.script(
        `set local session_replication_role = replica; ${tables.map(name => `delete from ${name};`).join(' ')}`,
      ),
    ),
  )

async function symbolsOf({ db }: Context): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; symbol: string }>`
    select id, 'D:' || slug as symbol from cloud_deployments
    union all select id, 'P:' || provider_id from cloud_projects
    union all select id, 'R:' || provider_id from cloud_resources
    union all select s.id, 'U:' || d.slug from subscriptions s join cloud_deployments d on d.id = s.deployment_id
    union all select t.id, 'T:' || d.slug || ':' || to_char(t.period, 'YYYY-MM') || ':' || t.sequence
      from statements t join cloud_deployments d on d.id = t.deployment_id
    union all select v.id, 'V:' || p.code from plan_versions v join plans p on p.id = v.plan_id
    union all select id, 'I:' || invoice_uuid from cloud_invoices
    union all select l.id, 'L:' || i.invoice_uuid || ':' || l.line_number
      from cloud_cost_lines l join cloud_invoices i on i.id = l.invoice_id
    union all select id, 'S:' || row_number() over (order by id) from saga_runs
    union all select d.id, 'X:' || r.provider_id || ':' || d.field || ':' ||
        row_number() over (partition by d.resource_id, d.field order by d.id)
      from cloud_drift d join cloud_resources r on r.id = d.resource_id`.execute(db)
  return new Map(rows.map(({ id, symbol }) => [id, symbol]))
}
