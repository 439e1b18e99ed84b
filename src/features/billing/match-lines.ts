// Whom lines are for, after they were ingested. An operator says what a line is for, and it stays said when the invoice is
// ingested again; or takes it back. Lines that nothing matched are matched again, because the inventory learns of resources
// after the invoice that charges for them was read. Finance is told nothing new by it: only whose lines are changes.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { findDeployment } from '../deployments/index.ts'
import { ownersThen } from '../inventory/index.ts'
import { type Assignment, type CostLineRow, endOf, lineKey } from './cost-line.ts'
import { lockAgainstIngest } from './invoice-store.ts'
import {
  assignLines,
  deleteAssignment,
  findLine,
  findLineJson,
  matchLine,
  matchPage,
  occurrenceOf,
  unassignLine,
  upsertAssignment,
} from './line-store.ts'

const LINES_A_PAGE = 5_000

/** Of one invoice, or of all; a page in a statement of its own. Returns how many were matched. */
export async function rematchLines(
  { db }: Pick<Deps, 'db'>,
  signal: AbortSignal,
  invoice?: { id: string },
): Promise<number> {
  let after: Key | undefined
  let matched = 0
  do {
    signal.throwIfAborted()
    const page = await matchPage(db, invoice?.id ?? null, LINES_A_PAGE, after ?? null)
    matched += page.matched
    after = page.last
  } while (after)
  return matched
}

/** Exactly one of them. */
interface Assignee {
  resource_id?: string
  deployment_id?: string
  tenant_id?: string
}

/** Returns the line as JSON text. */
export function assignLine(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  id: string,
  assignee: Assignee,
  actor: string,
): Promise<string> {
  return transaction(db, async tx => {
    const line = await lockedLine(tx, id)
    const assignment = await assignmentTo(tx, line, assignee)
    await upsertAssignment(tx, {
      ...(await identityOf(tx, line)),
      ...assignment,
      assigned_by: actor,
      assigned_at: clock.now().toISOString(),
    })
    await assignLines(tx, [{ id, ...assignment }])
    return (await findLineJson(tx, id))!
  })
}

/** Then it is matched by kind and name again. A line that nobody assigned stays as it is. */
export function unassignLineByHand({ db }: Pick<Deps, 'db'>, id: string): Promise<string> {
  return transaction(db, async tx => {
    const line = await lockedLine(tx, id)
    if (line.matched_by === 'hand') {
      await deleteAssignment(tx, await identityOf(tx, line))
      await unassignLine(tx, id)
      await matchLine(tx, id)
    }
    return (await findLineJson(tx, id))!
  })
}

/** The line, which no ingest can replace until the transaction ends. */
async function lockedLine(tx: Executor, id: string): Promise<CostLineRow> {
  const found = await findLine(tx, id)
  if (!found) throw notFound()
  await lockAgainstIngest(tx, found.invoice_id)
  // Read again: an ingest may have finished in between.
  const line = await findLine(tx, id)
  if (!line) throw notFound()
  return line
}

const identityOf = async (tx: Executor, line: CostLineRow) => ({
  invoice_id: line.invoice_id,
  line_key: lineKey(line),
  occurrence: await occurrenceOf(tx, line),
})

/** A resource brings the deployment and tenant it had while the line ran, a deployment its tenant. */
async function assignmentTo(tx: Executor, line: CostLineRow, assignee: Assignee): Promise<Assignment> {
  const { resource_id, deployment_id, tenant_id } = assignee
  if ([resource_id, deployment_id, tenant_id].filter(id => id !== undefined).length !== 1)
    throw refused('', 'must name one of resource_id, deployment_id and tenant_id')
  if (resource_id !== undefined) {
    const owners = await ownersThen(tx, resource_id, endOf(line))
    if (!owners) throw refused('/resource_id', 'is no resource')
    return { resource_id, ...owners }
  }
  if (deployment_id !== undefined) {
    const deployment = await findDeployment(tx, { allTenants: true }, deployment_id)
    if (!deployment) throw refused('/deployment_id', 'is no deployment')
    return { resource_id: null, deployment_id, tenant_id: deployment.tenant_id }
  }
  return { resource_id: null, deployment_id: null, tenant_id: tenant_id! }
}

const refused = (pointer: string, message: string) =>
  invalid('The assignment is not acceptable.', [{ pointer, message }])
