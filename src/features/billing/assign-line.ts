// An operator says what a line is for, and it stays said when the invoice is ingested again; or takes it back, and the
// line is matched by itself again.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { ownersThen } from '../inventory/index.ts'
import type { Assignment } from './hand-assigned.ts'
import { lineKey } from './line-key.ts'
import {
  assignLines,
  deleteAssignment,
  findDeploymentTenant,
  findLine,
  matchLine,
  occurrenceOf,
  unassignLine,
  upsertAssignment,
} from './line-repository.ts'
import { endOf } from './line-time.ts'
import { findLineJson } from './list-lines.ts'
import { holdInvoice } from './repository.ts'
import type { CostLineRow } from './tables.ts'

/** Exactly one of them. */
export interface Assignee {
  resource_id?: string
  deployment_id?: string
  tenant_id?: string
}

/** Returns the line as JSON text. */
export function assignLine(
  { db, clock }: Deps,
  id: string,
  assignee: Assignee,
  actor: string,
): Promise<string> {
  return transaction(db, async tx => {
    const line = await heldLine(tx, id)
    const assignment = await assignmentTo(tx, line, assignee)
    await upsertAssignment(tx, {
      ...(await placeOf(tx, line)),
      ...assignment,
      assigned_by: actor,
      assigned_at: clock.now().toISOString(),
    })
    await assignLines(tx, [{ id, ...assignment }])
    return (await findLineJson(tx, id))!
  })
}

/** A line that nobody assigned stays as it is. */
export function unassignLineByHand({ db }: Deps, id: string): Promise<string> {
  return transaction(db, async tx => {
    const line = await heldLine(tx, id)
    if (line.matched_by === 'hand') {
      await deleteAssignment(tx, await placeOf(tx, line))
      await unassignLine(tx, id)
      await matchLine(tx, id)
    }
    return (await findLineJson(tx, id))!
  })
}

/** The line, which no ingest can replace until the transaction ends. */
async function heldLine(tx: Executor, id: string): Promise<CostLineRow> {
  const found = await findLine(tx, id)
  if (!found) throw notFound()
  await holdInvoice(tx, found.invoice_id)
  // Read again: an ingest may have finished in between.
  const line = await findLine(tx, id)
  if (!line) throw notFound()
  return line
}

const placeOf = async (tx: Executor, line: CostLineRow) => ({
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
    const tenant = await findDeploymentTenant(tx, deployment_id)
    if (tenant === undefined) throw refused('/deployment_id', 'is no deployment')
    return { resource_id: null, deployment_id, tenant_id: tenant }
  }
  return { resource_id: null, deployment_id: null, tenant_id: tenant_id! }
}

const refused = (pointer: string, message: string) =>
  invalid('The assignment is not acceptable.', [{ pointer, message }])
