// /api/v1/findings
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { notFound } from '../../kernel/errors.ts'
import { refuseForeignTenant } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, Time } from '../../kernel/http/schemas.ts'
import { endSnooze, showChecks, snoozeFinding, summarize } from './actions.ts'
import { Category, Finding, FindingCheck, FindingSummary, Severity, STATUSES } from './finding.ts'
import { findFinding, listFindings } from './store.ts'

const base = '/api/v1/findings'
const params = Type.Object({ id: Id })

const FILTERS = {
  status: Type.Optional(
    Type.Enum([...STATUSES], { description: 'Default: `open`, without what is snoozed.' }),
  ),
  check: Type.Optional(Type.String({ maxLength: 100 })),
  category: Type.Optional(Category),
  severity: Type.Optional(Severity),
  kind: Type.Optional(Type.Enum([...kindNames], { description: 'The resource’s.' })),
  resource_id: Type.Optional(Id),
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Id),
}

const SnoozeFinding = Body(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '\\S',
      description: 'Why it may stay as it is, for whoever comes next.',
    }),
    until: Type.String({ ...Time, description: 'In the future, and within a year.' }),
  },
  { title: 'SnoozeFinding' },
)

const CLOSED = { 409: { finding_closed: 'The finding is closed: there is nothing left to snooze.' } }

export const findingRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Findings', guard: 'caller' }, route => {
    const { db, clock } = deps
    const now = () => clock.now().toISOString()

    route.list(
      base,
      {
        id: 'listFindings',
        summary: 'List findings',
        description:
          'What the checks have found wasted, without an owner, at risk or out of order, the costliest first. There is one open finding for each check and resource; it is closed by itself when it is no longer so. Tenants see what is found of their own, by the checks that are for tenants.',
        filters: FILTERS,
        items: Finding,
        cursor: cursorOf('findings', ['integer', 'uuid']),
        key: (row: { id: string; monthly_cost_minor: number }) => [row.monthly_cost_minor, row.id],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listFindings(db, scope, now(), { ...filter, status: filter.status ?? 'open' }, limit, after)
      },
    )

    route.get(
      `${base}/summary`,
      {
        id: 'getFindingSummary',
        summary: 'Sum up findings',
        description: 'How many are open and what they cost a month, by check and in all.',
        data: FindingSummary,
      },
      ({ scope }) => summarize(deps, scope),
    )

    route.get(
      `${base}/checks`,
      {
        id: 'listFindingChecks',
        summary: 'List checks',
        description: 'What is looked for, why, by which policy, and when it last was.',
        data: Type.Array(FindingCheck),
      },
      ({ scope }) => showChecks(deps, scope),
    )

    route.get(
      `${base}/:id`,
      { id: 'getFinding', summary: 'Get a finding', params, data: Finding },
      async ({ scope, params }) => {
        const json = await findFinding(db, scope, now(), params.id)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.post(
      `${base}/:id/snooze`,
      {
        id: 'snoozeFinding',
        summary: 'Snooze a finding',
        description:
          'It is not listed as open until then, and is open again afterwards by itself. It is still closed when it is no longer so; what is found later is another finding, and not snoozed. A second snooze replaces the first.',
        guard: 'operator',
        problems: CLOSED,
        params,
        body: SnoozeFinding,
        data: Finding,
      },
      async ({ deps, caller, params, body }) =>
        new JsonText(await snoozeFinding(deps, params.id, body, caller.sub)),
    )

    route.delete(
      `${base}/:id/snooze`,
      {
        id: 'endFindingSnooze',
        summary: 'End a snooze',
        description: 'The finding is open again. One that is not snoozed stays as it is.',
        guard: 'operator',
        problems: CLOSED,
        params,
      },
      async ({ deps, params }) => {
        await endSnooze(deps, params.id)
      },
    )
  })
