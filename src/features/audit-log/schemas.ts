// The API's words for the audit log.
import { Type } from 'typebox'
import { CREDENTIAL_KINDS } from '../../kernel/http/caller.ts'
import { PageQuery } from '../../kernel/http/pages.ts'
import { ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { ACTIONS } from './tables.ts'

const Name = Type.String({ minLength: 1, maxLength: 255 })
const Fields = (description: string) => Nullable(Type.Object({}, { additionalProperties: true, description }))
const Seq = Type.Integer({ description: 'Its place in the chain, from 1 on.' })
const Hash = Type.String({ description: 'SHA-256 of the hash before it and of the entry, in hex.' })

export const IdParams = Type.Object({ id: Id })

export const EntriesQuery = Query({
  ...PageQuery,
  actor: Type.Optional(ExternalId),
  operation: Type.Optional(
    Type.String({ ...Name, description: 'An operation of this description, such as `createDeployment`.' }),
  ),
  subject_type: Type.Optional(Name),
  subject_id: Type.Optional(Name),
  tenant_id: Type.Optional(Type.String({ ...ExternalId, description: 'The subject’s, not the actor’s.' })),
  request_id: Type.Optional(Type.String({ ...Name, description: 'What the answer’s `X-Request-Id` said.' })),
  client_request_id: Type.Optional(
    Type.String({ ...Name, description: 'What the caller’s `X-Request-Id` said.' }),
  ),
  credential_id: Type.Optional(
    Type.String({
      ...Name,
      description:
        'Of an API key or a session its id; of a token its `jti` or its fingerprint. In a large log name the actor as well.',
    }),
  ),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'From this moment on.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this moment.' })),
})

export const VerifyQuery = Query({
  head: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,14}:[0-9a-f]{64}$',
      description: 'A head that was noted earlier, as `SEQ:HASH`: it must still stand in its place.',
    }),
  ),
})

export const AuditEntry = Type.Object({
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
  before: Fields('What was there; of an update, only what changed. Secrets are left out.'),
  after: Fields('What is there now; of an update, only what changed. Secrets are left out.'),
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
  seq: Nullable(Seq),
  hash: Nullable(Hash),
})

export const Checkpoint = Type.Object({
  number: Type.Integer({ description: 'From 1 on, without gaps.' }),
  seq: Seq,
  entries: Type.Integer({ description: 'How many entries the chain had.' }),
  hash: Hash,
  at: Time,
  unkeyed: Type.Integer({
    description: 'How many of the first entries are from before the chain had a key.',
  }),
  previous: Type.String({ description: 'SHA-256 of the checkpoint before it; of the first, 64 zeros.' }),
  key_id: Type.String({ description: 'The first 16 hex digits of the public key’s SHA-256.' }),
  public_key: Nullable(
    Type.String({ description: 'Ed25519, in base64; null when its secret is no longer configured.' }),
  ),
  signature: Type.String({ description: 'Ed25519, in base64; docs/operations.md says of which text.' }),
})

export const ChainVerdict = Type.Object({
  intact: Type.Boolean(),
  entries: Type.Integer({ description: 'How many were found as they were written.' }),
  unkeyed: Type.Integer({ description: 'Of them, those from before the chain had a key.' }),
  head: Nullable(
    Type.Object(
      { seq: Seq, hash: Hash },
      { description: 'Note it elsewhere: it proves what came before it.' },
    ),
  ),
  checkpoints: Type.Integer({ description: 'How many signed checkpoints stand.' }),
  published: Nullable(
    Type.Object(
      {
        backend: Type.String({ description: 'The name of the active storage backend.' }),
        checkpoint: Nullable(Type.Integer({ description: 'The newest that is there and fits.' })),
        error: Nullable(Type.String({ description: 'Why the backend could not be asked.' })),
      },
      {
        description:
          'What was compared with checkpoints outside of the database; null without an active backend.',
      },
    ),
  ),
  broken_at: Nullable(Type.Integer({ description: 'The first link that does not hold.' })),
  reason: Nullable(Type.String()),
})
