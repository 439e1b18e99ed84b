// What callers do with findings: read what they add up to, and snooze one for a while.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { LIST_CURRENCY } from '../billing/index.ts'
import { checkJson, checksFor, refusedUntil } from './finding.ts'
import {
  findFinding,
  listRuns,
  lockFinding,
  type Snooze,
  type Summed,
  setSnooze,
  sumByCheck,
  sumFindings,
} from './store.ts'

type Needed = Pick<Deps, 'db' | 'clock'>

const ALL: Scope = { allTenants: true }

/** The finding as JSON text. */
export function snoozeFinding(
  deps: Needed,
  id: string,
  { reason, until }: { reason: string; until: string },
  actor: string,
): Promise<string> {
  const refused = refusedUntil(until, deps.clock.now())
  if (refused !== null)
    throw invalid('The body is not acceptable.', [{ pointer: '/until', message: refused }])
  const snoozed_until = new Date(until).toISOString()
  return changeSnooze(deps, id, { snoozed_until, snooze_reason: reason, snoozed_by: actor })
}

/** One that is not snoozed stays as it is. */
export const endSnooze = (deps: Needed, id: string): Promise<string> =>
  changeSnooze(deps, id, { snoozed_until: null, snooze_reason: null, snoozed_by: null })

function changeSnooze({ db, clock }: Needed, id: string, snooze: Snooze): Promise<string> {
  return transaction(db, async tx => {
    const finding = await lockFinding(tx, id)
    if (!finding) throw notFound()
    if (finding.closed_at !== null)
      throw conflict('finding_closed', `The finding was closed at ${finding.closed_at}.`)
    await setSnooze(tx, id, snooze)
    return (await findFinding(tx, ALL, clock.now().toISOString(), id))!
  })
}

/** Every check that the caller is shown, those too that found nothing. */
function withAll(scope: Scope, summed: Summed[]) {
  const byCheck = new Map(summed.map(row => [row.check_name, row]))
  return checksFor(scope).map(({ name, title, category, severity }) => {
    const { open = 0, snoozed = 0, monthly_cost_minor = 0 } = byCheck.get(name) ?? {}
    return { check: name, title, category, severity, open, snoozed, monthly_cost_minor }
  })
}

export async function summarize({ db, clock }: Needed, scope: Scope) {
  const summed = await sumFindings(db, scope, clock.now().toISOString())
  const checks = withAll(scope, summed.checks)
  const count = (of: 'open' | 'snoozed') => checks.reduce((sum, row) => sum + row[of], 0)
  return {
    totals: {
      open: count('open'),
      snoozed: count('snoozed'),
      monthly_cost_minor: summed.monthly_cost_minor,
      currency: LIST_CURRENCY,
    },
    checks,
  }
}

/** For the metrics, which are asked for often: without the total, in which everything counts once. */
export const countByCheck = async ({ db, clock }: Needed) =>
  withAll(ALL, await sumByCheck(db, clock.now().toISOString()))

/** What a tenant is told of a check's trouble is nothing: the words are the database's. */
export async function showChecks({ db, findingPolicy }: Pick<Deps, 'db' | 'findingPolicy'>, scope: Scope) {
  const ran = new Map((await listRuns(db)).map(row => [row.check_name, row]))
  return checksFor(scope).map(check => {
    const row = ran.get(check.name)
    return checkJson(check, findingPolicy, row && { ...row, error: scope.allTenants ? row.error : null })
  })
}
