// /api/v1/catalog/plans/:code/versions, for a platform_admin.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, NoBody, One, Query } from '../../kernel/http/schemas.ts'
import { createPlanVersion } from './create-plan-version.ts'
import { deleteDraft } from './delete-draft.ts'
import { findPlanRow } from './plan-repository.ts'
import { publishPlanVersion } from './publish-plan-version.ts'
import { replaceDraft } from './replace-draft.ts'
import { base, tags, writes } from './route-configs.ts'
import { PlanParams, PlanVersion, VersionBody, VersionParams } from './schemas.ts'
import { findVersionNumbered, listVersions } from './version-repository.ts'

const versions = `${base}/plans/:code/versions`

export function versionRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('plan_versions', ['integer'])
  return async app => {
    app.get(
      versions,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'listPlanVersions',
          summary: 'List a plan’s versions',
          description: 'Newest first: drafts, the active one and the retired.',
          params: PlanParams,
          querystring: Query(PageQuery),
          response: { 200: Many(PlanVersion) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = cursors.read(cursor)?.[0] as number | undefined
        const plan = await findPlanRow(deps.db, request.params.code)
        if (!plan) throw notFound()
        const rows = await listVersions(deps.db, plan.id, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.version]),
        )
      },
    )

    app.get(
      `${versions}/:version`,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'getPlanVersion',
          summary: 'Show a plan’s version',
          params: VersionParams,
          response: { 200: One(PlanVersion) },
        },
      },
      async request => {
        const { code, version } = request.params
        const found = await findVersionNumbered(deps.db, code, Number(version))
        if (!found) throw notFound()
        return { data: found }
      },
    )

    app.post(
      versions,
      {
        config: writes,
        schema: {
          tags,
          operationId: 'createPlanVersion',
          summary: 'Draft a version',
          description: 'Nobody is given it before it is published; until then it may be replaced or deleted.',
          params: PlanParams,
          body: VersionBody,
          response: { 201: One(PlanVersion) },
        },
      },
      async (request, reply) => {
        const { code } = request.params
        const draft = await createPlanVersion(inRequest(deps, request), code, request.body)
        const location = `${base}/plans/${code}/versions/${draft.version}`
        reply.code(201).header('location', location)
        return { data: draft }
      },
    )

    app.put(
      `${versions}/:version`,
      {
        config: { ...writes, problems: { 409: { not_a_draft: 'The version is published.' } } },
        schema: {
          tags,
          operationId: 'replacePlanVersion',
          summary: 'Replace a draft',
          description: '409 `not_a_draft` once it is published.',
          params: VersionParams,
          body: VersionBody,
          response: { 200: One(PlanVersion) },
        },
      },
      async request => {
        const { code, version } = request.params
        return { data: await replaceDraft(deps, code, Number(version), request.body) }
      },
    )

    app.delete(
      `${versions}/:version`,
      {
        config: { ...writes, problems: { 409: { not_a_draft: 'The version is published.' } } },
        schema: {
          tags,
          operationId: 'deletePlanVersion',
          summary: 'Delete a draft',
          description: '409 `not_a_draft` once it is published. Its number is not given again.',
          params: VersionParams,
          body: NoBody,
          response: { 204: Type.Null({ description: 'The draft is gone.' }) },
        },
      },
      async (request, reply) => {
        const { code, version } = request.params
        await deleteDraft(deps, code, Number(version))
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${versions}/:version/publish`,
      {
        config: {
          ...writes,
          problems: {
            409: {
              already_active: 'The version is the active one.',
              version_retired: 'The version is retired and stays so.',
            },
          },
        },
        schema: {
          tags,
          operationId: 'publishPlanVersion',
          summary: 'Publish a draft',
          description:
            'It becomes the active version, and the one before it retires in the same transaction; subscriptions stay ' +
            'where they are. 409 `already_active` or `version_retired`.',
          params: VersionParams,
          body: NoBody,
          response: { 200: One(PlanVersion) },
        },
      },
      async request => {
        const { code, version } = request.params
        return { data: await publishPlanVersion(inRequest(deps, request), code, Number(version)) }
      },
    )
  }
}
