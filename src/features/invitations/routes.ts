// /api/v1/admin/invitations, and /api/v1/invitations/accept for the invited

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One } from '../../kernel/http/schemas.ts'
import { shownUser, User } from '../users/index.ts'
import { acceptInvitation } from './accept-invitation.ts'
import { createInvitation } from './create-invitation.ts'
import { statusAt } from './invitation-life.ts'
import { findInvitation, listInvitations, type ShownInvitation } from './repository.ts'
import { revokeInvitation } from './revoke-invitation.ts'
import {
  AcceptBody,
  CreatedInvitation,
  CreateInvitationBody,
  Invitation,
  InvitationParams,
  InvitationsQuery,
} from './schemas.ts'

const config = { guard: 'platform_admin' } as const
const tags = ['Administration']
const base = '/api/v1/admin/invitations'

/** `changed` is called when somebody's access has changed. */
export function invitationRoutes(deps: Deps, changed: () => void): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('invitations', ['uuid'])
  const shown = (row: ShownInvitation) => ({ ...row, status: statusAt(row, deps.clock.now()) })

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listInvitations',
          summary: 'List the invitations',
          description: 'Newest first.',
          querystring: InvitationsQuery,
          response: { 200: Many(Invitation) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, ...filter } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const now = deps.clock.now().toISOString()
        const rows = await listInvitations(deps.db, filter, now, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows.map(shown), limit, row => [row.id]),
        )
      },
    )

    app.post(
      base,
      {
        config: {
          ...config,
          problems: { 409: { already_invited: 'The address has a pending invitation to the tenant.' } },
        },
        schema: {
          tags,
          operationId: 'createInvitation',
          summary: 'Invite somebody into a tenant',
          description:
            'The service sends no mail: hand the `token` to the invited yourself. 409 `already_invited` while the address has a pending one for the tenant.',
          body: CreateInvitationBody,
          response: { 201: One(CreatedInvitation) },
        },
      },
      async (request, reply) => {
        const { token, row } = await createInvitation(
          inRequest(deps, request),
          callerOf(request).sub,
          request.body,
        )
        const { token_hash: _kept, ...invitation } = row
        reply.code(201).header('location', `${base}/${row.id}`)
        return { data: { ...invitation, token } }
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getInvitation',
          summary: 'Show an invitation',
          params: InvitationParams,
          response: { 200: One(Invitation) },
        },
      },
      async request => {
        const row = await findInvitation(deps.db, request.params.id)
        if (!row) throw notFound()
        return { data: shown(row) }
      },
    )

    app.delete(
      `${base}/:id`,
      {
        config: { ...config, problems: { 409: { already_accepted: 'The invitation was accepted.' } } },
        schema: {
          tags,
          operationId: 'revokeInvitation',
          summary: 'Revoke an invitation',
          description: 'Revoking twice is no error. 409 `already_accepted`.',
          params: InvitationParams,
          response: { 204: Type.Null({ description: 'The invitation is revoked.' }) },
        },
      },
      async (request, reply) => {
        await revokeInvitation(deps, request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/invitations/accept',
      {
        config: {
          guard: 'caller',
          // Who is held back by a role may be about to get another.
          permission: false,
          problems: {
            404: { not_found: 'No invitation to the caller’s tenant that can still be accepted.' },
          },
        },
        schema: {
          tags: ['Invitations'],
          operationId: 'acceptInvitation',
          summary: 'Accept an invitation',
          description:
            'Makes the caller a user of its tenant with the address and the role of the invitation. One that is unknown, used, revoked, expired or another tenant’s is 404 alike.',
          body: AcceptBody,
          response: { 200: One(User) },
        },
      },
      async request => {
        const inThis = inRequest(deps, request)
        const user = await acceptInvitation(inThis, callerOf(request), request.body.token)
        await afterCommit(inThis.db, changed)
        return { data: shownUser(user) }
      },
    )
  }
}
