// What an entry of the audit log looks like: in the API, in the tables, and as the text that the chain's hashes are made of.
import { Type } from 'typebox'
import { CREDENTIAL_KINDS, type CredentialKind } from '../../kernel/http/caller.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'

export const ACTIONS = ['created', 'updated', 'deleted', 'requested'] as const

const Values = (description: string) => Nullable(Type.Object({}, { additionalProperties: true, description }))

export const Seq = Type.Integer({ description: 'Its place in the chain, from 1 on.' })
export const Hash = Type.String({ description: 'SHA-256 of the hash before it and of the entry, in hex.' })

// Do not touch: see HASHED_TEXT.
const FIRST_FIELDS = {
  id: Id,
  at: Time,
  actor: Type.String({ description: 'The caller’s `sub`.' }),
  actor_role: Nullable(Type.String()),
  actor_tenant_id: Nullable(Type.String()),
  request_id: Type.String({ description: 'Ours, as the answer’s `X-Request-Id` said.' }),
  operation: Type.String({ description: 'The `operationId` of the request.' }),
  subject_type: Type.String({ description: 'The table that was written, or what else was acted on.' }),
  subject_id: Type.String({ description: 'Keys of several parts are joined by `/`.' }),
  tenant_id: Nullable(Type.String({ description: 'Whose the subject is, where that is on record with it.' })),
  action: Type.Enum([...ACTIONS]),
  before: Values('What was there; of an update, only what changed. Secrets are left out.'),
  after: Values('What is there now; of an update, only what changed. Secrets are left out.'),
}

/** Entries of the first versions have none of these. */
const ORIGIN_FIELDS = {
  credential: Nullable(
    Type.Object(
      {
        kind: Type.Enum([...CREDENTIAL_KINDS]),
        id: Type.String({
          description:
            'Of an API key or a session its id; of a token its `jti`, or the beginning of its SHA-256 where it has none.',
        }),
      },
      { description: 'What the request was authenticated by; null for entries of earlier versions.' },
    ),
  ),
  address: Nullable(Type.String({ description: 'Where the request came from, as this service saw it.' })),
  client_request_id: Nullable(Type.String({ description: 'What the caller’s `X-Request-Id` said.' })),
}

const credential = `case when $.credential_kind is not null
  then json_build_object('kind', $.credential_kind, 'id', $.credential_id) end`

/** A row of audit_log, with its link `s` in the chain. */
export const AuditEntry = noun(
  'AuditEntry',
  { ...FIRST_FIELDS, ...ORIGIN_FIELDS, seq: Nullable(Seq), hash: Nullable(Hash) },
  { credential, seq: 's.seq', hash: 's.hash' },
)

const FIRST = `${jsonOf(Type.Object(FIRST_FIELDS), 'e')}::text`
const ORIGIN = `${jsonOf(Type.Object(ORIGIN_FIELDS), 'e', { credential })}::text`

/**
 * SQL: the text of the entry `e` that its hash is made of. Frozen: another order, name or form, even of a space, would break
 * every link that stands. A field that is added to the log later belongs neither into FIRST_FIELDS nor into ORIGIN_FIELDS: to
 * be hashed, it needs a part of its own that is left out for entries without it, as ORIGIN is.
 */
export const HASHED_TEXT = `(case when coalesce(e.credential_kind, e.credential_id, e.address, e.client_request_id) is null
  then ${FIRST} else left(${FIRST}, -1) || ',' || substr(${ORIGIN}, 2) end)`

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    audit_log: {
      action: (typeof ACTIONS)[number]
      before: Record<string, unknown> | null
      after: Record<string, unknown> | null
      credential_kind: CredentialKind | null
    }
  }
}
