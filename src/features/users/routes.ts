// /api/v1/admin/users
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Nullable, Query } from '../../kernel/http/schemas.ts'
import { RoleName } from '../roles/index.ts'
import { changeUser, createUser, deleteUser, type UserName } from './actions.ts'
import { findUsers, listUsers } from './store.ts'
import { DisplayName, Email, oneUser, Status, shownUser, User } from './user.ts'

const base = '/api/v1/admin/users'
const AMBIGUOUS = { user_ambiguous: 'Several tenants have a user of this id; `tenant_ids` names them.' }
const LAST = { last_operator: 'It is the last active user of the platform’s tenant.' }
const OWN = { own_user: 'It is the caller’s own user.' }

const params = Type.Object({ user_id: Type.String({ ...ExternalId, pattern: '^[^\\u0000]*$' }) })
const query = Query({
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

const CreateUser = Body(
  {
    id: Type.String({ ...ExternalId, description: 'The `sub` of the user’s tokens.' }),
    tenant_id: Type.String({
      ...ExternalId,
      description: 'The tenant of the user’s tokens; the platform’s for a platform_admin.',
    }),
    ...members,
  },
  { title: 'CreateUser' },
)

const UpdateUser = Body(members, { title: 'UpdateUser' })

const FILTERS = {
  tenant_id: Type.Optional(ExternalId),
  status: Type.Optional(Status),
  role: Type.Optional(RoleName),
  email: Type.Optional(Type.String({ ...Email, description: 'In capitals or not.' })),
}

const nameIn = (given: { params: Static<typeof params>; query: Static<typeof query> }): UserName => ({
  userId: given.params.user_id,
  tenantId: given.query.tenant_id,
})

/** `changed` is called when somebody's access has changed. */
export const userRoutes = (deps: Deps, changed: () => void) =>
  routes(deps, { tag: 'Administration', guard: 'platform_admin' }, route => {
    route.list(
      base,
      {
        id: 'listUsers',
        summary: 'List users',
        description: 'Those in the directory, newest first. Callers who are not in it work all the same.',
        filters: FILTERS,
        items: User,
        cursor: cursorOf('users', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ filter, limit, after }) => listUsers(deps.db, filter, limit, after),
    )

    route.post(
      base,
      {
        id: 'createUser',
        summary: 'Add a user to the directory',
        description: 'Under the `sub` and the tenant of the user’s tokens. 409 `user_exists`.',
        problems: { 409: { user_exists: 'The tenant has this user.', ...OWN } },
        body: CreateUser,
        status: 201,
        data: User,
      },
      async ({ deps, caller, body, reply }) => {
        const user = await createUser(deps, caller, body)
        await afterCommit(deps.db, changed)
        const tenant = new URLSearchParams({ tenant_id: user.tenant_id })
        reply.header('location', `${base}/${encodeURIComponent(user.user_id)}?${tenant}`)
        return shownUser(user)
      },
    )

    route.get(
      `${base}/:user_id`,
      { id: 'getUser', summary: 'Get a user', problems: { 409: AMBIGUOUS }, params, query, data: User },
      async given => {
        const { userId, tenantId } = nameIn(given)
        return shownUser(oneUser(await findUsers(deps.db, userId, tenantId)))
      },
    )

    route.patch(
      `${base}/:user_id`,
      {
        id: 'changeUser',
        summary: 'Update, suspend or reinstate a user',
        description:
          'A suspended user is refused with 403 `user_suspended`, by token, session or API key: at once by this process, within 5 seconds by every other. 409 `own_user` for one’s own status or role, `last_operator` for the last active user of the platform’s tenant.',
        problems: { 409: { ...AMBIGUOUS, ...OWN, ...LAST } },
        params,
        query,
        body: UpdateUser,
        data: User,
      },
      async given => {
        const user = await changeUser(given.deps, given.caller, nameIn(given), given.body)
        changed()
        return shownUser(user)
      },
    )

    route.delete(
      `${base}/:user_id`,
      {
        id: 'deleteUser',
        summary: 'Remove a user from the directory',
        description:
          'Revokes the user’s API keys as well. Tokens of the issuer stay good: to keep somebody out, suspend them.',
        problems: { 409: { ...AMBIGUOUS, ...OWN } },
        params,
        query,
        done: 'The user is out of the directory.',
      },
      async given => {
        await deleteUser(given.deps, given.caller, nameIn(given))
        changed()
      },
    )
  })
