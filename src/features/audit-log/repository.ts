// SQL of what the API shows of the audit log. The database makes the JSON.
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'

/** What every entry has. */
const ENTRY = `json_build_object(
  'id', e.id, 'at', iso8601(e.at), 'actor', e.actor, 'actor_role', e.actor_role, 'actor_tenant_id', e.actor_tenant_id,
  'request_id', e.request_id, 'operation', e.operation, 'subject_type', e.subject_type, 'subject_id', e.subject_id,
  'tenant_id', e.tenant_id, 'action', e.action, 'before', e.before, 'after', e.after)::text`

/** What entries have since there are credentials in the log, as members behind the others. */
const ORIGIN = `',' || substr(json_build_object(
    'credential', case when e.credential_kind is not null
      then json_build_object('kind', e.credential_kind, 'id', e.credential_id) end,
    'address', e.address, 'client_request_id', e.client_request_id)::text, 2)`

/**
 * The entry `e` as text. The chain's hashes are made of it: another order, name or form would break every link that
 * stands. What is added to the log later must be left out for entries that do not have it.
 */
export const ENTRY_TEXT = `(case when coalesce(e.credential_kind, e.credential_id, e.address, e.client_request_id) is null
  then ${ENTRY} else left(${ENTRY}, -1) || ${ORIGIN} end)`

const SHOWN = `select e.id, left(${ENTRY}, -1) || left(${ORIGIN}, -1)
    || ',"seq":' || coalesce(s.seq::text, 'null') || ',"hash":' || coalesce('"' || s.hash || '"', 'null') || '}' as json
  from audit_log e left join audit_seals s on s.entry_id = e.id`

export interface EntryFilter {
  actor?: string
  operation?: string
  subject_type?: string
  subject_id?: string
  tenant_id?: string
  request_id?: string
  client_request_id?: string
  credential_id?: string
  /** Ids: the first that is shown, and the first that is not. */
  from?: string
  to?: string
}

/** Newest first. */
export function listEntries(
  executor: Executor,
  filter: EntryFilter,
  limit: number,
  before: string | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: 'audit_log',
    select: SHOWN,
    filters: {
      actor: ['e.actor = ?', filter.actor],
      operation: ['e.operation = ?', filter.operation],
      subject_type: ['e.subject_type = ?', filter.subject_type],
      subject_id: ['e.subject_id = ?', filter.subject_id],
      tenant_id: ['e.tenant_id = ?', filter.tenant_id],
      request_id: ['e.request_id = ?', filter.request_id],
      client_request_id: ['e.client_request_id = ?', filter.client_request_id],
      credential_id: ['e.credential_id = ?', filter.credential_id],
      from: ['e.id >= ?', filter.from],
      to: ['e.id < ?', filter.to],
    },
    orderBy: ['e.id'],
    descending: true,
    after: before === null ? null : [before],
    limit,
  })
}

/** The entry as JSON text. */
export async function findEntry(executor: Executor, id: string): Promise<string | undefined> {
  const statement = { name: 'audit_log_entry', text: `${SHOWN} where e.id = $1` }
  return (await runStatement<{ json: string }>(executor, statement, [id]))[0]?.json
}
