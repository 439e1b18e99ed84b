// /api/v1/overview: everything that is counted for a first look, in one answer.
import type { Deps } from '../../deps.ts'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { type Caller, isPermitted, mayOperate, type Scope } from '../../kernel/http/caller.ts'
import { routes } from '../../kernel/http/route.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { countTroubledInvoices } from '../billing/index.ts'
import { countDeadLetters } from '../dead-letters/index.ts'
import { openByField } from '../drift/index.ts'
import { mirrorState } from '../inventory/index.ts'
import { countTroubled } from '../sagas/index.ts'
import { countTroubledTasks } from '../scheduled-tasks/index.ts'
import { isStale, Overview } from './overview.ts'

const RECENT_MS = 7 * 24 * 60 * 60_000

export const overviewRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Service', guard: 'caller', permission: false }, route => {
    route.get(
      '/api/v1/overview',
      {
        id: 'getOverview',
        summary: 'Get an overview',
        description:
          'What needs attention: how fresh each kind of the inventory is, open drift, saga runs under way and those of the last seven days that did not complete, dead letters, tasks and invoices. Each part needs the permission of its area (`inventory:read`, `sagas:read`, `drift:read`, …) and is null without it; a tenant is told of its own resources and runs.',
        data: Overview,
      },
      ({ caller, scope }) => overviewOf(deps, caller, scope),
    )
  })

async function overviewOf(deps: Deps, caller: Caller, scope: Scope): Promise<Overview> {
  const { db } = deps
  const own = <T>(area: string, read: () => Promise<T>) =>
    isPermitted(caller, `${area}:read`) ? read() : null
  const operators = <T>(area: string, read: () => Promise<T>) =>
    mayOperate(caller, `${area}:read`) ? read() : null
  // One after the other: a request takes one connection, whatever it reads.
  const mirror = await own('inventory', () => mirrorOf(deps, scope))
  const sagas = await own('sagas', () => sagasOf(deps, scope))
  const drift = await operators('drift', () => openByField(db))
  const dead_letters = await operators('dead_letters', () => countDeadLetters(db))
  const scheduled_tasks = await operators('scheduled_tasks', () => countTroubledTasks(db))
  const invoices = await operators('billing', () => countTroubledInvoices(db))
  return {
    mirror,
    sagas,
    drift: drift && { open: drift.reduce((sum, { open }) => sum + open, 0), by_field: drift },
    dead_letters,
    scheduled_tasks,
    invoices: invoices && { ...invoices, not_pushed: deps.finance ? invoices.not_pushed : null },
  }
}

async function mirrorOf({ db, clock }: Deps, scope: Scope): Promise<Overview['mirror']> {
  const kinds = scope.allTenants ? [...kindNames, 'project'] : kindNames
  const now = clock.now()
  const rows = await mirrorState(db, scope, kinds)
  return rows.map(row => ({ ...row, stale: isStale(row.complete_at, now) }))
}

async function sagasOf({ db, clock }: Deps, scope: Scope): Promise<Overview['sagas']> {
  const since = new Date(clock.now().getTime() - RECENT_MS)
  const counts = new Map(
    (await countTroubled(db, scope, firstIdAt(since.getTime()))).map(({ status, count }) => [status, count]),
  )
  const of = (status: 'pending' | 'running' | 'compensating' | 'failed' | 'rolled_back') =>
    counts.get(status) ?? 0
  return {
    pending: of('pending'),
    running: of('running'),
    compensating: of('compensating'),
    failed: of('failed'),
    rolled_back: of('rolled_back'),
    since: since.toISOString(),
  }
}
