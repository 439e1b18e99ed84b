// /api/v1/admin/roles

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { BUILT_IN, isBuiltIn, shownRole, withBuiltIn } from './built-in.ts'
import { changeRole } from './change-role.ts'
import { createRole } from './create-role.ts'
import { deleteRole, type IsPromised } from './delete-role.ts'
import { findRole, listRoles } from './repository.ts'
import { ChangeRoleBody, CreateRoleBody, Role, RoleParams } from './schemas.ts'

const config = { guard: 'platform_admin' } as const
const tags = ['Administration']
const base = '/api/v1/admin/roles'
const BUILT_IN_PROBLEM = { role_built_in: 'The role is built in.' }

export interface RoleParts {
  isPromised: IsPromised
  /** Called when what a role permits has changed. */
  changed: () => void
}

export function roleRoutes(deps: Deps, { isPromised, changed }: RoleParts): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('roles', ['text'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listRoles',
          summary: 'List the roles',
          description: 'By name, the built-in one among them.',
          querystring: Query(PageQuery),
          response: { 200: Many(Role) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = (cursors.read(cursor)?.[0] as string | undefined) ?? ''
        const roles = withBuiltIn(await listRoles(deps.db, limit + 1, after), after)
        return withNextLink(
          request,
          reply,
          cursors.page(roles, limit, role => [role.name]),
        )
      },
    )

    app.post(
      base,
      {
        config: { ...config, problems: { 409: { role_exists: 'The name is taken.' } } },
        schema: {
          tags,
          operationId: 'createRole',
          summary: 'Register a role',
          description:
            'Callers whose tokens name it may then do what its permissions, and those of the other roles they name, allow together. A role that is not registered holds nothing back. A caller of the platform’s tenant whose roles are all registered is an operator: it sees all tenants, for what its roles permit and nothing else.',
          body: CreateRoleBody,
          response: { 201: One(Role) },
        },
      },
      async (request, reply) => {
        const inThis = inRequest(deps, request)
        const role = await createRole(inThis, request.body)
        await afterCommit(inThis.db, changed)
        reply.code(201).header('location', `${base}/${role.name}`)
        return { data: shownRole(role) }
      },
    )

    app.get(
      `${base}/:name`,
      {
        config,
        schema: {
          tags,
          operationId: 'getRole',
          summary: 'Show a role',
          params: RoleParams,
          response: { 200: One(Role) },
        },
      },
      async request => {
        const { name } = request.params
        if (isBuiltIn(name)) return { data: BUILT_IN }
        const role = await findRole(deps.db, name)
        if (!role) throw notFound()
        return { data: shownRole(role) }
      },
    )

    app.patch(
      `${base}/:name`,
      {
        config: { ...config, problems: { 409: BUILT_IN_PROBLEM } },
        schema: {
          tags,
          operationId: 'changeRole',
          summary: 'Change what a role permits',
          description: 'For everybody who has it: at once in this process, within 5 seconds in every other.',
          params: RoleParams,
          body: ChangeRoleBody,
          response: { 200: One(Role) },
        },
      },
      async request => {
        const role = await changeRole(deps, request.params.name, request.body)
        changed()
        return { data: shownRole(role) }
      },
    )

    app.delete(
      `${base}/:name`,
      {
        config: {
          ...config,
          problems: {
            409: { ...BUILT_IN_PROBLEM, role_in_use: 'A user or a pending invitation has the role.' },
          },
        },
        schema: {
          tags,
          operationId: 'deleteRole',
          summary: 'Delete a role',
          description:
            '409 `role_in_use` while a user or a pending invitation has it. Tokens that name it are held back by it no longer.',
          params: RoleParams,
          response: { 204: Type.Null({ description: 'The role is gone.' }) },
        },
      },
      async (request, reply) => {
        await deleteRole(deps, request.params.name, isPromised)
        changed()
        return reply.code(204).send(null)
      },
    )
  }
}
