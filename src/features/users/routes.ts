// /api/v1/admin/users

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Many, Nullable, One, Query } from '../../kernel/http/schemas.ts'
import { RoleName } from '../roles/index.ts'
import { changeUser, createUser, deleteUser, type UserName } from './actions.ts'
import { findUsers, listUsers } from './store.ts'
import { DisplayName, Email, oneUser, Status, shownUser, User } from './user.ts'

const config = { guard: 'platform_admin' } as const
const tags = ['Administration']
const base = '/api/v1/admin/users'
const AMBIGUOUS = { user_ambiguous: 'Several tenants have a user of this id; `tenant_ids` names them.' }
const LAST = { last_operator: 'It is the last active user of the platform’s tenant.' }
const OWN = { own_user: 'It is the caller’s own user.' }

const UserParams = Type.Object({ user_id: Type.String({ ...ExternalId, pattern: '^[^\\u0000]*$' }) })
const OneUserQuery = Query({
  tenant_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'Needed where several tenants have a user of this id.' }),
  ),
})

const members = {
  email: Type.Optional(Nullable(Email)),
  display_name: Type.Optional(Nullable(DisplayName)),
  role: Type.Optional(Nullable(RoleName)),
  status: Type.Optional(Status),
}

const CreateUserBody = Body({
  id: Type.String({ ...ExternalId, description: 'The `sub` of the user’s tokens.' }),
  tenant_id: Type.String({
    ...ExternalId,
    description: 'The tenant of the user’s tokens; the platform’s for a platform_admin.',
  }),
  ...members,
})

const ChangeUserBody = Body(members)

const UsersQuery = Query({
  ...PageQuery,
  tenant_id: Type.Optional(ExternalId),
  status: Type.Optional(Status),
  role: Type.Optional(RoleName),
  email: Type.Optional(Type.String({ ...Email, description: 'In capitals or not.' })),
})

const nameIn = (request: {
  params: Static<typeof UserParams>
  query: Static<typeof OneUserQuery>
}): UserName => ({ userId: request.params.user_id, tenantId: request.query.tenant_id })

/** `changed` is called when somebody's access has changed. */
export function userRoutes(deps: Deps, changed: () => void): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('users', ['uuid'])

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listUsers',
          summary: 'List the users',
          description: 'Those in the directory, newest first. Callers who are not in it work all the same.',
          querystring: UsersQuery,
          response: { 200: Many(User) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listUsers(deps.db, filter, limit + 1, before ?? null)
        const { data, next_cursor } = cursors.page(rows, limit, row => [row.id])
        return withNextLink(request, reply, { data: data.map(shownUser), next_cursor })
      },
    )

    app.post(
      base,
      {
        config: {
          ...config,
          problems: { 409: { user_exists: 'The tenant has this user.', ...OWN } },
        },
        schema: {
          tags,
          operationId: 'createUser',
          summary: 'Add a user to the directory',
          description: 'Under the `sub` and the tenant of the user’s tokens. 409 `user_exists`.',
          body: CreateUserBody,
          response: { 201: One(User) },
        },
      },
      async (request, reply) => {
        const inTx = inRequest(deps, request)
        const user = await createUser(inTx, callerOf(request), request.body)
        await afterCommit(inTx.db, changed)
        const query = new URLSearchParams({ tenant_id: user.tenant_id })
        reply.code(201).header('location', `${base}/${encodeURIComponent(user.user_id)}?${query}`)
        return { data: shownUser(user) }
      },
    )

    app.get(
      `${base}/:user_id`,
      {
        config: { ...config, problems: { 409: AMBIGUOUS } },
        schema: {
          tags,
          operationId: 'getUser',
          summary: 'Show a user',
          params: UserParams,
          querystring: OneUserQuery,
          response: { 200: One(User) },
        },
      },
      async request => {
        const { userId, tenantId } = nameIn(request)
        return { data: shownUser(oneUser(await findUsers(deps.db, userId, tenantId))) }
      },
    )

    app.patch(
      `${base}/:user_id`,
      {
        config: { ...config, problems: { 409: { ...AMBIGUOUS, ...OWN, ...LAST } } },
        schema: {
          tags,
          operationId: 'changeUser',
          summary: 'Change, suspend or reinstate a user',
          description:
            'A suspended user is refused with 403 `user_suspended`, by token, session or API key: at once by this process, within 5 seconds by every other. 409 `own_user` for one’s own status or role, `last_operator` for the last active user of the platform’s tenant.',
          params: UserParams,
          querystring: OneUserQuery,
          body: ChangeUserBody,
          response: { 200: One(User) },
        },
      },
      async request => {
        const user = await changeUser(deps, callerOf(request), nameIn(request), request.body)
        changed()
        return { data: shownUser(user) }
      },
    )

    app.delete(
      `${base}/:user_id`,
      {
        config: { ...config, problems: { 409: { ...AMBIGUOUS, ...OWN } } },
        schema: {
          tags,
          operationId: 'deleteUser',
          summary: 'Take a user out of the directory',
          description:
            'Revokes the user’s API keys as well. Tokens of the issuer stay good: to keep somebody out, suspend them.',
          params: UserParams,
          querystring: OneUserQuery,
          response: { 204: Type.Null({ description: 'The user is out of the directory.' }) },
        },
      },
      async (request, reply) => {
        await deleteUser(deps, callerOf(request), nameIn(request))
        changed()
        return reply.code(204).send(null)
      },
    )
  }
}
