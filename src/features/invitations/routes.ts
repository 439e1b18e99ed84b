// /api/v1/admin/invitations, and /api/v1/invitations/accept for the invited.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, Nullable } from '../../kernel/http/schemas.ts'
import { fieldsOf } from '../../kernel/noun.ts'
import { RoleName } from '../roles/index.ts'
import { Email, shownUser, User } from '../users/index.ts'
import { acceptInvitation, createInvitation, revokeInvitation } from './actions.ts'
import { CreatedInvitation, Invitation, Status, statusAt } from './invitation.ts'
import { findInvitation, listInvitations, type ShownInvitation } from './store.ts'

const base = '/api/v1/admin/invitations'
const params = Type.Object({ id: Id })

const CreateInvitation = Body(
  {
    email: Email,
    tenant_id: ExternalId,
    role: Type.Optional(Nullable(RoleName)),
    expires_at: Type.Optional(
      Nullable(
        Type.String({ format: 'date-time', description: 'At most 90 days ahead; by default 7 days.' }),
      ),
    ),
  },
  { title: 'CreateInvitation' },
)

const AcceptInvitation = Body(
  { token: Type.String({ minLength: 1, maxLength: 128, description: 'As the inviter was shown it.' }) },
  { title: 'AcceptInvitation' },
)

const FILTERS = {
  tenant_id: Type.Optional(ExternalId),
  status: Type.Optional(Status),
  email: Type.Optional(Type.String({ ...Email, description: 'In capitals or not.' })),
}

/** `changed` is called when somebody's access has changed. */
export const invitationRoutes = (deps: Deps, changed: () => void) =>
  routes(deps, { tag: 'Administration', guard: 'platform_admin' }, route => {
    const shown = (row: ShownInvitation) => ({ ...row, status: statusAt(row, deps.clock.now()) })

    route.list(
      base,
      {
        id: 'listInvitations',
        summary: 'List invitations',
        description: 'Newest first.',
        filters: FILTERS,
        items: Invitation,
        cursor: cursorOf('invitations', ['uuid']),
        key: (row: ShownInvitation) => [row.id],
      },
      async ({ filter, limit, after }) => {
        const now = deps.clock.now().toISOString()
        return (await listInvitations(deps.db, filter, now, limit, after)).map(shown)
      },
    )

    route.post(
      base,
      {
        id: 'createInvitation',
        summary: 'Invite a user to a tenant',
        description:
          'The service sends no mail: hand the `token` to the invited yourself. 409 `already_invited` while the address has a pending one for the tenant.',
        problems: { 409: { already_invited: 'The address has a pending invitation to the tenant.' } },
        body: CreateInvitation,
        status: 201,
        data: CreatedInvitation,
      },
      async ({ deps, caller, body, reply }) => {
        const { token, row } = await createInvitation(deps, caller.sub, body)
        reply.header('location', `${base}/${row.id}`)
        return { ...fieldsOf(Invitation, row), token }
      },
    )

    route.get(
      `${base}/:id`,
      { id: 'getInvitation', summary: 'Get an invitation', params, data: Invitation },
      async ({ params }) => {
        const row = await findInvitation(deps.db, params.id)
        if (!row) throw notFound()
        return shown(row)
      },
    )

    route.delete(
      `${base}/:id`,
      {
        id: 'revokeInvitation',
        summary: 'Revoke an invitation',
        description: 'Revoking twice is no error. 409 `already_accepted`.',
        problems: { 409: { already_accepted: 'The invitation was accepted.' } },
        params,
        done: 'The invitation is revoked.',
      },
      ({ deps, params }) => revokeInvitation(deps, params.id),
    )

    route.post(
      '/api/v1/invitations/accept',
      {
        id: 'acceptInvitation',
        summary: 'Accept an invitation',
        description:
          'Makes the caller a user of its tenant with the address and the role of the invitation. One that is unknown, used, revoked, expired or another tenant’s is 404 alike.',
        tag: 'Invitations',
        guard: 'caller',
        // Who is held back by a role may be about to get another.
        permission: false,
        problems: {
          404: { not_found: 'No invitation to the caller’s tenant that can still be accepted.' },
        },
        body: AcceptInvitation,
        data: User,
      },
      async ({ deps, caller, body }) => {
        const user = await acceptInvitation(deps, caller, body.token)
        await afterCommit(deps.db, changed)
        return shownUser(user)
      },
    )
  })
