// Finds the caller of a request: a bearer token, an API key in the same header, or the session cookie.
import type { FastifyRequest } from 'fastify'
import { forbidden, unauthenticated } from '../errors.ts'
import { isUuid } from '../ids.ts'
import type { Access } from './access.ts'
import type { CredentialKind, Identity } from './caller.ts'
import type { OriginRule } from './origins.ts'
import { fingerprint, type VerifiedToken } from './verify-token.ts'

export const API_KEY_PREFIX = 'cops_'

export interface Door {
  verifyToken: (token: string) => Promise<VerifiedToken>
  verifyApiKey: (key: string) => Promise<Identity | Refused>
  /** The name of the cookie that carries a session's id, signed. */
  sessionCookie: string
  verifySession: (id: string) => Promise<Identity | Refused>
  /** What is known of a caller beyond its credential; asked at every request. */
  accessOf: (identity: Identity) => Promise<Access>
  originAllowed: OriginRule
}

/** Why a credential is not good: for the log alone, the caller is told no more than that. */
export interface Refused {
  refused: string
  /** Which one it is, where it is one that was good once. */
  id?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The credential that was refused, for the log. */
    refused: (Partial<Refused> & { kind: CredentialKind }) | undefined
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export async function authenticate(request: FastifyRequest, door: Door): Promise<Identity> {
  const { authorization } = request.headers
  if (authorization !== undefined) return bearer(request, authorization, door)
  // Cookies are not parsed yet when the address itself could not be read.
  const cookie = request.cookies?.[door.sessionCookie]
  if (cookie !== undefined) return session(request, cookie, door)
  throw unauthenticated('Send a token: `Authorization: Bearer <token>`.')
}

export function bearerToken(authorization: string): string {
  const match = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  if (!match) throw unauthenticated('The Authorization header must read `Bearer <token>`.')
  return match[1]!
}

async function bearer(request: FastifyRequest, authorization: string, door: Door): Promise<Identity> {
  const token = bearerToken(authorization)
  if (token.startsWith(API_KEY_PREFIX)) {
    const verdict = await door.verifyApiKey(token)
    if (!('refused' in verdict)) return verdict
    request.refused = { kind: 'api_key', ...verdict }
    throw unauthenticated('The API key is not valid.')
  }
  try {
    return (await door.verifyToken(token)).caller
  } catch (error) {
    request.refused = { kind: 'token', id: fingerprint(token) }
    throw error
  }
}

async function session(request: FastifyRequest, cookie: string, door: Door): Promise<Identity> {
  const id = sessionIdIn(request, cookie)
  const verdict = id === undefined ? { refused: 'its signature is not valid' } : await door.verifySession(id)
  if ('refused' in verdict) {
    request.refused = { kind: 'session', ...verdict }
    throw unauthenticated('The session cookie is not valid.')
  }
  // A browser sends cookies along with requests that other sites make; the origin tells them apart.
  if (!SAFE_METHODS.has(request.method) && !door.originAllowed(request.headers.origin)) {
    throw forbidden('A request with the session cookie must come from an allowed origin.')
  }
  return verdict
}

/** The session that a cookie names; undefined when we did not sign it. */
export function sessionIdIn(request: FastifyRequest, cookie: string | undefined): string | undefined {
  if (cookie === undefined) return undefined
  const { valid, value } = request.unsignCookie(cookie)
  // A cookie of an earlier version held a token.
  return valid && value && isUuid(value) ? value : undefined
}
