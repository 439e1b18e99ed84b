// /api/v1/admin/audit_log
import { type TProperties, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { ExternalId, Id, Nullable, Query } from '../../kernel/http/schemas.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { noun } from '../../kernel/noun.ts'
import { AuditEntry, Hash, Seq } from './audit-entry.ts'
import { headOf } from './chain.ts'
import { CheckpointDocument, documentOf } from './checkpoint.ts'
import { findEntry, listCheckpoints, listEntries } from './store.ts'
import { verifyChain } from './verify-chain.ts'

const Name = Type.String({ minLength: 1, maxLength: 255 })

const FILTERS = {
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
} satisfies TProperties

const VerifyQuery = Query({
  head: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,14}:[0-9a-f]{64}$',
      description: 'A head that was noted earlier, as `SEQ:HASH`: it must still stand in its place.',
    }),
  ),
})

const AuditLogVerification = noun('AuditLogVerification', {
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

const base = '/api/v1/admin/audit_log'

export const auditLogRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Administration', guard: 'operator' }, route => {
    route.list(
      base,
      {
        id: 'listAuditLog',
        summary: 'List audit log entries',
        description:
          'What callers have written, newest first: who, by which credential and request, from where, what was there before and after. What ' +
          'sweeps and workflows write is in the logs of resources and runs.',
        filters: FILTERS,
        items: AuditEntry,
        cursor: cursorOf('audit_log', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ filter: { since, until, ...filter }, limit, after }) => {
        const from = since === undefined ? undefined : firstIdAt(Date.parse(since))
        const to = until === undefined ? undefined : firstIdAt(Date.parse(until))
        return listEntries(deps.db, { ...filter, from, to }, limit, after)
      },
    )

    route.get(
      `${base}/verify`,
      {
        id: 'verifyAuditLog',
        summary: 'Verify the audit log',
        description:
          'Goes along the whole chain and its signed checkpoints, after adding what is new, and compares them with ' +
          'the checkpoints at the active storage backend. A `head` that was noted elsewhere must stand in its place too.',
        query: VerifyQuery,
        data: AuditLogVerification,
      },
      ({ query: { head } }) => verifyChain(deps, { noted: head === undefined ? undefined : headOf(head) }),
    )

    route.list(
      `${base}/checkpoints`,
      {
        id: 'listAuditCheckpoints',
        summary: 'List the audit log’s checkpoints',
        description:
          'Where the chain stood at a time, signed; newest first. Copies are put into the active storage backend and sent as `audit.checkpoint`.',
        items: CheckpointDocument,
        cursor: cursorOf('audit_checkpoints', ['integer']),
        key: (row: { number: number }) => [row.number],
      },
      async ({ limit, after }) =>
        (await listCheckpoints(deps.db, limit, after)).map(row => documentOf(row, deps.auditKeys)),
    )

    route.get(
      `${base}/:id`,
      {
        id: 'getAuditEntry',
        summary: 'Get an audit log entry',
        params: Type.Object({ id: Id }),
        data: AuditEntry,
      },
      async ({ params }) => {
        const json = await findEntry(deps.db, params.id)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )
  })
