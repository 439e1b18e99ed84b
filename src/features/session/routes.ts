// /api/v1/session: a browser trades its token for a cookie, and gives it back.
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { forbidden } from '../../kernel/errors.ts'
import {
  API_KEY_PREFIX,
  bearerToken,
  cookieOptions,
  sessionCookieName,
  sessionIdIn,
} from '../../kernel/http/auth.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { routes } from '../../kernel/http/route.ts'
import { NoBody, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import type { Sessions } from './sessions.ts'

const path = '/api/v1/session'

const Session = noun('Session', {
  sub: Type.String(),
  tenant_id: Nullable(Type.String()),
  roles: Type.Array(Type.String()),
  kind: Type.Enum(['member', 'operator', 'platform_admin'], {
    description:
      'A member sees its own tenant; an operator all tenants, for what its permissions allow; a platform_admin everything.',
  }),
  permissions: Type.Array(Type.String(), {
    description: 'What the caller may do now: see `x-permission` of the operations.',
  }),
  expires_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When that ends; null: an API key that does not expire.',
    }),
  ),
})

/** What a caller may do, in the words of the roles. */
export type PermissionsOf = (caller: Caller) => string[]

export function sessionRoutes(
  deps: Deps,
  sessions: Sessions,
  permissionsOf: PermissionsOf,
  production: boolean,
) {
  const cookie = sessionCookieName(production)
  const shown = (caller: Caller): Static<typeof Session> => ({
    sub: caller.sub,
    tenant_id: caller.tenantId,
    roles: [...caller.roles],
    kind: caller.platformAdmin ? 'platform_admin' : caller.operator ? 'operator' : 'member',
    permissions: permissionsOf(caller),
    expires_at: caller.expiresAt,
  })
  return routes(deps, { tag: 'Service', guard: 'caller', permission: false }, route => {
    route.post(
      path,
      {
        id: 'startSession',
        summary: 'Start a browser session',
        description:
          'Sets a signed cookie that authenticates as the token does, until the token expires or the session is ended. In production it is called `__Host-cloudops_session`. Needs the token itself: an API key or a cookie starts no session.',
        // A retry needs a cookie of its own: stored responses hold none.
        config: { idempotent: false },
        body: NoBody,
        data: Session,
      },
      async ({ caller, request, reply }) => {
        const { authorization } = request.headers
        const token = authorization && bearerToken(authorization)
        if (!token || token.startsWith(API_KEY_PREFIX))
          throw forbidden('A session starts from a token in the Authorization header.')
        const id = await sessions.start(caller, token)
        reply.setCookie(cookie, id, { ...cookieOptions(production), expires: new Date(caller.expiresAt!) })
        return shown(caller)
      },
    )

    route.get(
      path,
      {
        id: 'getSession',
        summary: 'Get the current caller',
        description: 'The caller, as its token, key or cookie says, what it may do, and when that ends.',
        data: Session,
      },
      ({ caller }) => shown(caller),
    )

    route.delete(
      path,
      {
        id: 'endSession',
        summary: 'End the browser session',
        description:
          'The session that the cookie names ends on every node, and the cookie is cleared. Without a cookie nothing ends: tokens are the issuer’s.',
        body: NoBody,
        done: 'The session is ended.',
      },
      async ({ request, reply }) => {
        const id = sessionIdIn(request, request.cookies[cookie])
        if (id !== undefined) await sessions.end(id)
        reply.clearCookie(cookie, cookieOptions(production))
      },
    )
  })
}
