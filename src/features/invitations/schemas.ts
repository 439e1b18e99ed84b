// The API's words for invitations.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { RoleName } from '../roles/index.ts'
import { Email } from '../users/index.ts'
import { INVITATION_STATUSES } from './tables.ts'

const Status = Type.Enum([...INVITATION_STATUSES])

export const InvitationParams = Type.Object({ id: Id })

export const CreateInvitationBody = Body({
  email: Email,
  tenant_id: ExternalId,
  role: Type.Optional(Nullable(RoleName)),
  expires_at: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'At most 90 days ahead; by default 7 days.' })),
  ),
})

export const AcceptBody = Body({
  token: Type.String({ minLength: 1, maxLength: 128, description: 'As the inviter was shown it.' }),
})

export const InvitationsQuery = Query({
  ...PageQuery,
  tenant_id: Type.Optional(ExternalId),
  status: Type.Optional(Status),
  email: Type.Optional(Type.String({ ...Email, description: 'In capitals or not.' })),
})

export const Invitation = Type.Object({
  id: Id,
  email: Type.String(),
  tenant_id: Type.String(),
  role: Nullable(Type.String()),
  status: Status,
  invited_by: Type.String(),
  expires_at: Time,
  created_at: Time,
  accepted_at: Nullable(Time),
  accepted_by: Nullable(Type.String()),
})

export const CreatedInvitation = Type.Object({
  ...Invitation.properties,
  token: Type.String({ description: 'Hand it to the invited. It is shown here and never again.' }),
})
