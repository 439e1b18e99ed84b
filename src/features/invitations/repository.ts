// SQL of the invitations.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { InvitationRow, InvitationStatus } from './tables.ts'

const SHOWN = [
  'id',
  'email',
  'tenant_id',
  'role',
  'status',
  'invited_by',
  'expires_at',
  'created_at',
  'accepted_at',
  'accepted_by',
] as const
export type ShownInvitation = Pick<InvitationRow, (typeof SHOWN)[number]>

const INVITATIONS = auditedTable('invitations', { key: ['id'], secret: ['token_hash'] })

export async function insertInvitation(tx: Executor, row: InvitationRow): Promise<void> {
  await INVITATIONS.insert(tx, [row])
}

const sameEmail = (email: string) => sql<boolean>`lower(email) = lower(${email})`

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
        .where(sameEmail(email))
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
  before: string | null,
): Promise<ShownInvitation[]> {
  return executor
    .selectFrom('invitations')
    .select(SHOWN)
    .$if(tenant_id !== undefined, query => query.where('tenant_id', '=', tenant_id!))
    .$if(email !== undefined, query => query.where(sameEmail(email!)))
    .$if(status === 'pending', query => query.where('status', '=', 'pending').where('expires_at', '>', now))
    .$if(status === 'expired', query =>
      query.where(eb =>
        eb.or([
          eb('status', '=', 'expired'),
          eb.and([eb('status', '=', 'pending'), eb('expires_at', '<=', now)]),
        ]),
      ),
    )
    .$if(status === 'accepted' || status === 'revoked', query => query.where('status', '=', status!))
    .$if(before !== null, query => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findInvitation(executor: Executor, id: string): Promise<ShownInvitation | undefined> {
  return executor.selectFrom('invitations').select(SHOWN).where('id', '=', id).executeTakeFirst()
}

/** Of two who accept at once the second waits here, and then finds it accepted: no row. */
export async function takeInvitation(
  tx: Executor,
  { tokenHash, tenantId, by, now }: { tokenHash: string; tenantId: string; by: string; now: string },
): Promise<ShownInvitation | undefined> {
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
  return row && (Object.fromEntries(SHOWN.map(column => [column, row[column]])) as ShownInvitation)
}

/** What it is afterwards: revoked, or accepted as before. Undefined when there is none. */
export async function revoke(executor: Executor, id: string): Promise<InvitationStatus | undefined> {
  const [row] = await INVITATIONS.update(
    executor,
    { id },
    {
      status: sql`case status when 'accepted' then status else 'revoked' end`,
    },
  )
  return row?.status
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
