// /api/v1/projects
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pagination.ts'
import { Many, One } from '../../kernel/http/words.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { assignProject } from './actions.ts'
import { findProject, listProjects } from './project-store.ts'
import { AssignProjectBody, IdParams, Project, ProjectsQuery } from './schemas.ts'

const tags = ['Inventory']
const base = '/api/v1/projects'

export function projectRoutes(kernel: Kernel): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('projects', ['uuid'])
  return async app => {
    app.get(
      base,
      {
        config: { guard: 'caller' },
        schema: {
          tags,
          operationId: 'listProjects',
          summary: 'List the projects',
          description: 'A tenant sees its own.',
          querystring: ProjectsQuery,
          response: { 200: Many(Project) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const caller = callerOf(request)
        refuseForeignTenant(caller, filter.tenant_id)
        const after = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listProjects(kernel.db, scopeOf(caller), filter, limit + 1, after ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.get(
      `${base}/:id`,
      {
        config: { guard: 'caller' },
        schema: {
          tags,
          operationId: 'getProject',
          summary: 'Show a project',
          params: IdParams,
          response: { 200: One(Project) },
        },
      },
      async request => {
        const project = await findProject(kernel.db, scopeOf(callerOf(request)), request.params.id)
        if (!project) throw notFound()
        return { data: project }
      },
    )

    app.patch(
      `${base}/:id`,
      {
        config: { guard: 'operator' },
        schema: {
          tags,
          operationId: 'assignProject',
          summary: 'Say whose a project is',
          description: 'Its resources take the tenant at once, with an event each.',
          params: IdParams,
          body: AssignProjectBody,
          response: { 200: One(Project) },
        },
      },
      async request => ({
        data: await assignProject(kernel, request.params.id, request.body, callerOf(request).sub),
      }),
    )
  }
}
