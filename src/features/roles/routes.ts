// /api/v1/admin/roles, and what is done there. A role holds back every caller whose token names it, if it names no other
// that permits more.
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { afterCommit, transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { inOrder } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, Nullable } from '../../kernel/http/schemas.ts'
import {
  BUILT_IN,
  isBuiltIn,
  PERMISSIONS,
  Role,
  RoleName,
  type RoleRow,
  refuseChangeOfBuiltIn,
  shownRole,
  TENANT_PERMISSIONS,
  withBuiltIn,
} from './role.ts'
import { findRole, listRoles, lockRole, ROLES } from './store.ts'

const base = '/api/v1/admin/roles'
const params = Type.Object({ name: RoleName })
const BUILT_IN_PROBLEM = { role_built_in: 'The role is built in.' }

const Description = Nullable(Type.String({ maxLength: 255 }))
const Permissions = Type.Array(Type.Enum([...PERMISSIONS]), {
  maxItems: PERMISSIONS.length,
  description:
    'GET needs `read` of an area, most else `write`; `*` is every area, and covers `read` and `write` alone. Operations name theirs as `x-permission`; `deployments:operate` is for moves into and out of `past_due` and `suspended`, `billing_action_suspended` and `trial_ends_at`. ' +
    `Callers of a tenant have use of ${TENANT_PERMISSIONS.join(', ')}; the others are for operators: callers of the platform’s tenant whose roles are all registered.`,
})

const CreateRole = Body(
  { name: RoleName, description: Type.Optional(Description), permissions: Permissions },
  { title: 'CreateRole' },
)

const UpdateRole = Body(
  { description: Type.Optional(Description), permissions: Type.Optional(Permissions) },
  { title: 'UpdateRole' },
)

export interface RoleParts {
  isPromised: IsPromised
  /** Called when what a role permits has changed. */
  changed: () => void
}

export const roleRoutes = (deps: Deps, { isPromised, changed }: RoleParts) =>
  routes(deps, { tag: 'Administration', guard: 'platform_admin' }, route => {
    route.list(
      base,
      {
        id: 'listRoles',
        summary: 'List roles',
        description: 'By name, the built-in one among them.',
        items: Role,
        cursor: cursorOf('roles', ['text']),
        key: (role: Role) => [role.name],
      },
      async ({ limit, after }) =>
        withBuiltIn(await listRoles(deps.db, limit, after), after ? String(after[0]) : ''),
    )

    route.post(
      base,
      {
        id: 'createRole',
        summary: 'Create a role',
        description:
          'Callers whose tokens name it may then do what its permissions, and those of the other roles they name, allow together. A role that is not registered holds nothing back. A caller of the platform’s tenant whose roles are all registered is an operator: it sees all tenants, for what its roles permit and nothing else.',
        problems: { 409: { role_exists: 'The name is taken.' } },
        body: CreateRole,
        status: 201,
        data: Role,
      },
      async ({ deps, body, reply }) => {
        const role = await createRole(deps, body)
        await afterCommit(deps.db, changed)
        reply.header('location', `${base}/${role.name}`)
        return shownRole(role)
      },
    )

    route.get(`${base}/:name`, { id: 'getRole', summary: 'Get a role', params, data: Role }, async given => {
      const { name } = given.params
      if (isBuiltIn(name)) return BUILT_IN
      const role = await findRole(deps.db, name)
      if (!role) throw notFound()
      return shownRole(role)
    })

    route.patch(
      `${base}/:name`,
      {
        id: 'changeRole',
        summary: 'Update a role',
        description:
          'What it permits changes for everybody who has it: at once in this process, within 5 seconds in every other.',
        problems: { 409: BUILT_IN_PROBLEM },
        params,
        body: UpdateRole,
        data: Role,
      },
      async ({ deps, params, body }) => {
        const role = await updateRole(deps, params.name, body)
        changed()
        return shownRole(role)
      },
    )

    route.delete(
      `${base}/:name`,
      {
        id: 'deleteRole',
        summary: 'Delete a role',
        description:
          '409 `role_in_use` while a user or a pending invitation has it. Tokens that name it are held back by it no longer.',
        problems: {
          409: { ...BUILT_IN_PROBLEM, role_in_use: 'A user or a pending invitation has the role.' },
        },
        params,
        done: 'The role is gone.',
      },
      async ({ deps, params }) => {
        await deleteRole(deps, params.name, isPromised)
        changed()
      },
    )
  })

async function createRole(
  { db, clock }: Deps,
  { name, description = null, permissions }: Static<typeof CreateRole>,
): Promise<RoleRow> {
  const now = clock.now().toISOString()
  const row = { name, description, permissions: inOrder(permissions), created_at: now, updated_at: now }
  const [role] = isBuiltIn(name) ? [] : await ROLES.insert(db, [row], ['name'])
  if (!role) throw conflict('role_exists', `There is a role ${name} already.`)
  return role
}

async function updateRole(
  { db, clock }: Deps,
  name: string,
  { permissions, ...changes }: Static<typeof UpdateRole>,
): Promise<RoleRow> {
  refuseChangeOfBuiltIn(name)
  const [role] = await ROLES.update(
    db,
    { name },
    {
      ...changes,
      ...(permissions && { permissions: inOrder(permissions) }),
      updated_at: clock.now().toISOString(),
    },
  )
  if (!role) throw notFound()
  return role
}

/** Whether somebody has been promised the role. Users who have it refer to it; the database sees to those. */
type IsPromised = (tx: Executor, name: string) => Promise<boolean>

const FOREIGN_KEY_VIOLATION = '23503'

/** Only when nobody has it and nobody is about to: what it held back would otherwise be open all at once. */
async function deleteRole({ db }: Deps, name: string, isPromised: IsPromised): Promise<void> {
  refuseChangeOfBuiltIn(name)
  try {
    await transaction(db, async tx => {
      if (!(await lockRole(tx, name))) throw notFound()
      if (await isPromised(tx, name)) throw inUse()
      await ROLES.delete(tx, { name })
    })
  } catch (error) {
    throw sqlState(error) === FOREIGN_KEY_VIOLATION ? inUse() : error
  }
}

const inUse = () => conflict('role_in_use', 'A user or a pending invitation has this role.')
