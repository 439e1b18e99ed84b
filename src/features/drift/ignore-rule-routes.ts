// /api/v1/drift/ignore-rules, for operators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { createIgnoreRule } from './create-ignore-rule.ts'
import { deleteRule, findRule, listRules } from './ignore-rule-repository.ts'
import { CreateIgnoreRuleBody, IdParams, IgnoreRule } from './schemas.ts'

const config = { guard: 'operator' } as const
const tags = ['Drift']
const base = '/api/v1/drift/ignore-rules'

export function ignoreRuleRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { db } = deps
  const cursors = cursorOf('drift_ignore_rules', ['uuid'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listIgnoreRules',
          summary: 'List the ignore rules',
          description: 'Newest first, expired ones too.',
          querystring: Query(PageQuery),
          response: { 200: Many(IgnoreRule) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listRules(db, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.post(
      base,
      {
        config: { ...config },
        schema: {
          tags,
          operationId: 'createIgnoreRule',
          summary: 'Ignore some drift',
          description:
            'Of this kind, of this resource, or of all; fields by name or with `*`. From the next sweep on what it ' +
            'covers does not open, and what was open becomes stale; `GET /drift?ignored=true` still lists it.',
          body: CreateIgnoreRuleBody,
          response: { 201: One(IgnoreRule) },
        },
      },
      async (request, reply) => {
        const rule = await createIgnoreRule(inRequest(deps, request), request.body, callerOf(request).sub)
        reply.code(201).header('location', `${base}/${rule.id}`)
        return { data: rule }
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getIgnoreRule',
          summary: 'Show an ignore rule',
          params: IdParams,
          response: { 200: One(IgnoreRule) },
        },
      },
      async request => {
        const rule = await findRule(db, request.params.id)
        if (!rule) throw notFound()
        return { data: rule }
      },
    )

    app.delete(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'deleteIgnoreRule',
          summary: 'Delete an ignore rule',
          description: 'The next sweep opens what it covered and still differs.',
          params: IdParams,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        if (!(await transaction(db, tx => deleteRule(tx, id)))) throw notFound()
        return reply.code(204).send(null)
      },
    )
  }
}
