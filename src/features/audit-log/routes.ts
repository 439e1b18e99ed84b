// /api/v1/admin/audit_log
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { notFound } from '../../kernel/errors.ts'
import { jsonPage, jsonText } from '../../kernel/http/json-text.ts'
import { cursorOf } from '../../kernel/http/pagination.ts'
import { Many, One } from '../../kernel/http/words.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { headOf } from './chain.ts'
import { firstIdAt } from './id-range.ts'
import { findEntry, listEntries } from './repository.ts'
import { AuditEntry, ChainVerdict, EntriesQuery, IdParams, VerifyQuery } from './schemas.ts'
import { verifyChain } from './verify-chain.ts'

const config = { guard: 'platform_admin' } as const
const tags = ['Administration']
const base = '/api/v1/admin/audit_log'

export function auditLogRoutes(kernel: Kernel): FastifyPluginAsyncTypebox {
  const { db } = kernel
  const cursors = cursorOf('audit_log', ['uuid'])
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
            'Goes along the whole chain of hashes, after adding what is new to it. That the newest entries were cut ' +
            'off, or all of them made anew, can only be told from a `head` that was noted elsewhere.',
          querystring: VerifyQuery,
          response: { 200: One(ChainVerdict) },
        },
      },
      async request => {
        const { head } = request.query
        return { data: await verifyChain(kernel, { noted: head === undefined ? undefined : headOf(head) }) }
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
