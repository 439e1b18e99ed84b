// /api/v1/session: a browser trades its token for a cookie, and gives it back.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { forbidden, invalid } from '../../kernel/errors.ts'
import { API_KEY_PREFIX, bearerToken, type Door } from '../../kernel/http/authenticate.ts'
import { type Caller, callerOf } from '../../kernel/http/caller.ts'
import { cookieOptions, LARGEST_COOKIE, SESSION_COOKIE } from '../../kernel/http/session-cookie.ts'
import { NoBody, Nullable, One, Time } from '../../kernel/http/words.ts'

const tags = ['Service']
const config = { guard: 'caller', permission: false } as const

const Session = Type.Object({
  sub: Type.String(),
  tenant_id: Nullable(Type.String()),
  roles: Type.Array(Type.String()),
  expires_at: Nullable(Time),
})

const shown = (caller: Caller, expiresAt: Date | null): Static<typeof Session> => ({
  sub: caller.sub,
  tenant_id: caller.tenantId,
  roles: [...caller.roles],
  expires_at: expiresAt?.toISOString() ?? null,
})

export function sessionRoutes(door: Door, production: boolean): FastifyPluginAsyncTypebox {
  return async app => {
    app.post(
      '/api/v1/session',
      {
        config: { ...config, storesNothing: true },
        schema: {
          tags,
          operationId: 'startSession',
          summary: 'Start a browser session',
          description:
            'Sets a signed cookie that authenticates as the token does, until the token expires. Needs the token itself: an API key or a cookie starts no session.',
          body: NoBody,
          response: { 200: One(Session) },
        },
      },
      async (request, reply) => {
        const { authorization } = request.headers
        const token = authorization && bearerToken(authorization)
        if (!token || token.startsWith(API_KEY_PREFIX))
          throw forbidden('A session starts from a token in the Authorization header.')
        if (token.length > LARGEST_COOKIE) throw invalid('The token is too large for a cookie.')
        const { caller, expiresAt } = await door.verifyToken(token)
        const expires = new Date(expiresAt * 1000)
        reply.setCookie(SESSION_COOKIE, token, { ...cookieOptions(production), expires })
        reply.header('cache-control', 'no-store')
        return { data: shown(caller, expires) }
      },
    )

    app.get(
      '/api/v1/session',
      {
        config,
        schema: {
          tags,
          operationId: 'getSession',
          summary: 'Who am I?',
          description: 'The caller, as its token, key or cookie says.',
          response: { 200: One(Session) },
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        return { data: shown(callerOf(request), null) }
      },
    )

    app.delete(
      '/api/v1/session',
      {
        config: { ...config, storesNothing: true },
        schema: {
          tags,
          operationId: 'endSession',
          summary: 'End the browser session',
          body: NoBody,
          response: { 204: Type.Null({ description: 'The cookie is cleared.' }) },
        },
      },
      async (_request, reply) => {
        reply.clearCookie(SESSION_COOKIE, cookieOptions(production))
        return reply.code(204).send(null)
      },
    )
  }
}
