// /api/v1/admin/audit_log

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { jsonPage, jsonText } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { headOf } from './chain.ts'
import { checkpointsBefore } from './chain-repository.ts'
import { documentOf } from './checkpoint.ts'
import { firstIdAt } from './id-range.ts'
import { findEntry, listEntries } from './repository.ts'
import { AuditEntry, ChainVerdict, Checkpoint, EntriesQuery, IdParams, VerifyQuery } from './schemas.ts'
import { verifyChain } from './verify-chain.ts'

const config = { guard: 'operator' } as const
const tags = ['Administration']
const base = '/api/v1/admin/audit_log'

export function auditLogRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { db } = deps
  const cursors = cursorOf('audit_log', ['uuid'])
  const numbers = cursorOf('audit_checkpoints', ['integer'])
  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listAuditLog',
          summary: 'List the audit log',
          description:
            'What callers have written, newest first: who, by which credential and request, from where, what was there before and after. What ' +
            'sweeps and workflows write is in the logs of resources and runs.',
          querystring: EntriesQuery,
          response: { 200: Many(AuditEntry) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, since, until, ...filter } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const from = since === undefined ? undefined : firstIdAt(Date.parse(since))
        const to = until === undefined ? undefined : firstIdAt(Date.parse(until))
        const rows = await listEntries(db, { ...filter, from, to }, limit + 1, before ?? null)
        return jsonPage(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.get(
      `${base}/verify`,
      {
        config,
        schema: {
          tags,
          operationId: 'verifyAuditLog',
          summary: 'Verify the audit log',
          description:
            'Goes along the whole chain and its signed checkpoints, after adding what is new, and compares them with ' +
            'the checkpoints at the active storage backend. A `head` that was noted elsewhere must stand in its place too.',
          querystring: VerifyQuery,
          response: { 200: One(ChainVerdict) },
        },
      },
      async request => {
        const { head } = request.query
        return { data: await verifyChain(deps, { noted: head === undefined ? undefined : headOf(head) }) }
      },
    )

    app.get(
      `${base}/checkpoints`,
      {
        config,
        schema: {
          tags,
          operationId: 'listAuditCheckpoints',
          summary: 'List the audit log’s checkpoints',
          description:
            'Where the chain stood at a time, signed; newest first. Copies are put into the active storage backend and sent as `audit.checkpoint`.',
          querystring: Query(PageQuery),
          response: { 200: Many(Checkpoint) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = numbers.read(cursor)?.[0] as number | undefined
        const rows = await checkpointsBefore(deps.db, before ?? null, limit + 1)
        const { data, next_cursor } = numbers.page(rows, limit, row => [row.number])
        const shown = data.map(row => documentOf(row, deps.auditKeys))
        return withNextLink(request, reply, { data: shown, next_cursor })
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getAuditEntry',
          summary: 'Show an entry of the audit log',
          params: IdParams,
          response: { 200: One(AuditEntry) },
        },
      },
      async (request, reply) => {
        const json = await findEntry(db, request.params.id)
        if (json === undefined) throw notFound()
        return jsonText(reply, `{"data":${json}}`)
      },
    )
  }
}
