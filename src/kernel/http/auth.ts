// Authentication and authorization of every request. Each route declares who may call it (`config.guard`); one that does
// not keeps the app from starting. Authentication comes first, so an unknown path is 401 to the unauthenticated, not 404.
import { hkdfSync } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { actAs } from '../audit.ts'
import type { SecretKeys } from '../crypto.ts'
import { forbidden, unauthenticated } from '../errors.ts'
import { isUuid } from '../ids.ts'
import { clientRequestId } from '../log.ts'
import {
  type Access,
  actingRole,
  addressOf,
  type Caller,
  type CredentialKind,
  callerOf,
  type Guard,
  type Identity,
  neededFor,
  type RoutePermission,
  refuseSuspended,
  refuseUnpermitted,
} from './caller.ts'
import type { RateLimits } from './rate-limits.ts'
import { fingerprint, type VerifiedToken } from './verify-token.ts'

export const API_KEY_PREFIX = 'cops_'

/** How credentials are verified. The kernel knows no users and no keys: app.ts hands these in. */
export interface Authenticator {
  verifyToken: (token: string) => Promise<VerifiedToken>
  verifyApiKey: (key: string) => Promise<Identity | Refused>
  /** The name of the cookie that carries a session's id, signed. */
  sessionCookie: string
  verifySession: (id: string) => Promise<Identity | Refused>
  accessOf: (identity: Identity) => Promise<Access>
  originAllowed: OriginRule
}

/** Why a credential is not valid. Only the log says so; the caller learns no more than 401. */
export interface Refused {
  refused: string
  /** The id of a credential that was valid once. */
  id?: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard
    permission?: RoutePermission
    /** Another permission that is enough for operators. */
    permissionInstead?: string
    /** The permission that decides, worked out when the route is made. */
    needed?: string | null
  }
  interface FastifyRequest {
    /** The credential that was refused, for the log. */
    refused: (Partial<Refused> & { kind: CredentialKind }) | undefined
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function installGuards(app: FastifyInstance, authenticator: Authenticator, limits: RateLimits): void {
  app.decorateRequest('caller', undefined)
  app.addHook('onRoute', route => {
    const { config, method, url } = route
    if (!config?.guard) throw new Error(`${method} ${url} declares no guard (config.guard)`)
    route.config = { ...config, needed: neededFor(config.guard, config.permission, String(method), url) }
  })
  app.addHook('onRequest', async (request, reply) => {
    const { guard, needed = null, permissionInstead } = request.routeOptions.config
    if (guard === 'public') return limits.admitAnonymous(request, reply)
    // Set before the access is known, so that the log names the caller even if finding it out fails.
    const caller: Caller = { ...(await limits.admit(request, reply)), operator: false, limits: [] }
    request.caller = caller
    const access = await authenticator.accessOf(caller)
    refuseSuspended(access)
    if (!caller.platformAdmin && caller.tenantId === null) throw forbidden('The token names no tenant.')
    caller.operator = access.operator
    caller.limits = access.limits
    refuseUnpermitted(caller, guard, needed, permissionInstead)
  })
}

/**
 * What a request writes, it writes as its caller. Entered after the body was read, because a context does not survive
 * that; requests that only read act as nobody.
 */
export function installActing(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.caller === undefined || SAFE_METHODS.has(request.method)) return done()
    const caller = callerOf(request)
    const { schema, url } = request.routeOptions
    const actor = {
      actor: caller.sub,
      actor_role: actingRole(caller),
      actor_tenant_id: caller.tenantId,
      request_id: request.id,
      client_request_id: clientRequestId(request.headers['x-request-id']),
      credential_kind: caller.via,
      credential_id: caller.credentialId,
      address: addressOf(request),
      operation: (schema as { operationId?: string } | undefined)?.operationId ?? `${request.method} ${url}`,
    }
    actAs(actor, done)
  })
}

/** By a bearer token, an API key in the same header, or the session cookie. */
export async function authenticate(request: FastifyRequest, authenticator: Authenticator): Promise<Identity> {
  const { authorization } = request.headers
  if (authorization !== undefined) return fromHeader(request, authorization, authenticator)
  const cookie = request.cookies[authenticator.sessionCookie]
  if (cookie !== undefined) return fromCookie(request, cookie, authenticator)
  throw unauthenticated('Send a token: `Authorization: Bearer <token>`.')
}

export function bearerToken(authorization: string): string {
  const match = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  if (!match) throw unauthenticated('The Authorization header must read `Bearer <token>`.')
  return match[1]!
}

async function fromHeader(
  request: FastifyRequest,
  authorization: string,
  { verifyApiKey, verifyToken }: Authenticator,
): Promise<Identity> {
  const token = bearerToken(authorization)
  if (token.startsWith(API_KEY_PREFIX)) {
    const verdict = await verifyApiKey(token)
    if (!('refused' in verdict)) return verdict
    request.refused = { kind: 'api_key', ...verdict }
    throw unauthenticated('The API key is not valid.')
  }
  try {
    return (await verifyToken(token)).caller
  } catch (error) {
    request.refused = { kind: 'token', id: fingerprint(token) }
    throw error
  }
}

async function fromCookie(
  request: FastifyRequest,
  cookie: string,
  { verifySession, originAllowed }: Authenticator,
): Promise<Identity> {
  const id = sessionIdIn(request, cookie)
  const verdict = id === undefined ? { refused: 'its signature is not valid' } : await verifySession(id)
  if ('refused' in verdict) {
    request.refused = { kind: 'session', ...verdict }
    throw unauthenticated('The session cookie is not valid.')
  }
  // Browsers send cookies with requests that other sites make; the origin tells those apart.
  if (!SAFE_METHODS.has(request.method) && !originAllowed(request.headers.origin)) {
    throw forbidden('A request with the session cookie must come from an allowed origin.')
  }
  return verdict
}

/** The session that a cookie names; undefined when the signature is not ours. */
export function sessionIdIn(request: FastifyRequest, cookie: string | undefined): string | undefined {
  if (cookie === undefined) return undefined
  const { valid, value } = request.unsignCookie(cookie)
  // A cookie of an earlier version held a token.
  return valid && value && isUuid(value) ? value : undefined
}

/**
 * The keys that sign session cookies, derived from SECRET_KEY and the salt: the first signs, any of them verifies, so
 * cookies outlive a rotation as long as their key is listed.
 */
export const sessionKeys = (secretKeys: SecretKeys, salt: string): Buffer[] =>
  secretKeys.map(key => Buffer.from(hkdfSync('sha256', key, salt, 'cloudops session cookie', 32)))

/** `__Host-`: browsers accept it over https only, from this host and for all its paths. Plain http cannot use it. */
export const sessionCookieName = (production: boolean): string =>
  production ? '__Host-cloudops_session' : 'cloudops_session'

export const cookieOptions = (production: boolean): CookieSerializeOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax',
  secure: production,
  signed: true,
})

export type OriginRule = (origin: string | undefined) => boolean

/** Allows the development origin, exactly, and https subdomains of one domain. */
export function originRule(devOrigin: string, domain: string | undefined): OriginRule {
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
  const subdomain = domain && new RegExp(`^https://(${label}\\.)+${domain.replaceAll('.', '\\.')}$`)
  return origin => {
    if (!origin) return false
    return origin === devOrigin || (subdomain instanceof RegExp && subdomain.test(origin))
  }
}
