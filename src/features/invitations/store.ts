// All SQL of the invitations.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf } from '../../kernel/noun.ts'
import { Invitation, type InvitationRow, type InvitationStatus } from './invitation.ts'

export const INVITATIONS = auditedTable('invitations', { key: ['id'], secret: ['token_hash'] })

/** Without the token's hash. */
export type ShownInvitation = Omit<InvitationRow, 'token_hash'>

/** Makes room: there is one pending invitation for an address in a tenant, and one whose time is over is none. */
export async function writeExpired(
  tx: Executor,
  tenantId: string,
  email: string,
  now: string,
): Promise<void> {
  await INVITATIONS.update(
    tx,
    query =>
      query
        .where('tenant_id', '=', tenantId)
        .where(sql<boolean>`lower(email) = lower(${email})`)
        .where('status', '=', 'pending')
        .where('expires_at', '<=', now),
    { status: 'expired' },
  )
}

export interface InvitationFilter {
  tenant_id?: string
  status?: InvitationStatus
  email?: string
}

/** Newest first. */
export function listInvitations(
  executor: Executor,
  { tenant_id, status, email }: InvitationFilter,
  now: string,
  limit: number,
  after: Key | null,
): Promise<ShownInvitation[]> {
  const isPast = status === 'accepted' || status === 'revoked'
  return listPage(executor, {
    name: 'invitations',
    select: `select ${columnsOf(Invitation).join(', ')} from invitations`,
    filters: {
      tenant_id: ['tenant_id = ?', tenant_id],
      email: ['lower(email) = lower(?)', email],
      status: ['status = ?', isPast ? status : undefined],
      pending: [`(status = 'pending' and expires_at > ?)`, status === 'pending' ? now : undefined],
      expired: [
        `(status = 'expired' or (status = 'pending' and expires_at <= ?))`,
        status === 'expired' ? now : undefined,
      ],
    },
    orderBy: ['id'],
    descending: true,
    after,
    limit,
  })
}

export const findInvitation = (executor: Executor, id: string): Promise<ShownInvitation | undefined> =>
  executor.selectFrom('invitations').select(columnsOf(Invitation)).where('id', '=', id).executeTakeFirst()

/** Of two who accept at once the second waits here, and then finds it accepted: no row. */
export async function takeInvitation(
  tx: Executor,
  { tokenHash, tenantId, by, now }: { tokenHash: string; tenantId: string; by: string; now: string },
): Promise<InvitationRow | undefined> {
  const [row] = await INVITATIONS.update(
    tx,
    query =>
      query
        .where('token_hash', '=', tokenHash)
        .where('tenant_id', '=', tenantId)
        .where('status', '=', 'pending')
        .where('expires_at', '>', now),
    { status: 'accepted', accepted_at: now, accepted_by: by },
  )
  return row
}

/** What it is afterwards: revoked, or accepted as before. Undefined when there is none. */
export async function revoke(executor: Executor, id: string): Promise<InvitationStatus | undefined> {
  const status = sql<InvitationStatus>`case status when 'accepted' then status else 'revoked' end`
  return (await INVITATIONS.update(executor, { id }, { status }))[0]?.status
}

export async function isRolePending(executor: Executor, role: string, now: string): Promise<boolean> {
  const row = await executor
    .selectFrom('invitations')
    .select('id')
    .where('role', '=', role)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
