// Finds the caller of a request: a bearer token, an API key in the same header, or the session cookie.
import type { FastifyRequest } from 'fastify'
import { forbidden, unauthenticated } from '../errors.ts'
import type { Caller } from './caller.ts'
import type { OriginRule } from './origins.ts'
import { SESSION_COOKIE } from './session-cookie.ts'
import type { Standing } from './standing.ts'
import type { VerifiedToken } from './verify-token.ts'

export const API_KEY_PREFIX = 'cops_'

export interface Door {
  verifyToken: (token: string) => Promise<VerifiedToken>
  /** Checks an API key; null when it is not good. */
  verifyApiKey: (key: string) => Promise<Caller | null>
  /** What is known of a caller beyond its token; asked at every request. */
  standing: (caller: Caller) => Promise<Standing>
  originAllowed: OriginRule
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export async function authenticate(request: FastifyRequest, door: Door): Promise<Caller> {
  const { authorization } = request.headers
  if (authorization !== undefined) return bearer(authorization, door)
  // Cookies are not parsed yet when the address itself could not be read.
  const cookie = request.cookies?.[SESSION_COOKIE]
  if (cookie !== undefined) return session(request, cookie, door)
  throw unauthenticated('Send a token: `Authorization: Bearer <token>`.')
}

export function bearerToken(authorization: string): string {
  const match = /^bearer +([\x21-\x7e]+)$/i.exec(authorization)
  if (!match) throw unauthenticated('The Authorization header must read `Bearer <token>`.')
  return match[1]!
}

async function bearer(authorization: string, door: Door): Promise<Caller> {
  const token = bearerToken(authorization)
  if (!token.startsWith(API_KEY_PREFIX)) return (await door.verifyToken(token)).caller
  const caller = await door.verifyApiKey(token)
  if (!caller) throw unauthenticated('The API key is not valid.')
  return caller
}

async function session(request: FastifyRequest, cookie: string, door: Door): Promise<Caller> {
  const { valid, value } = request.unsignCookie(cookie)
  if (!valid || !value) throw unauthenticated('The session cookie is not valid.')
  const { caller } = await door.verifyToken(value)
  // A browser sends cookies along with requests that other sites make; the origin tells them apart.
  if (!SAFE_METHODS.has(request.method) && !door.originAllowed(request.headers.origin)) {
    throw forbidden('A request with the session cookie must come from an allowed origin.')
  }
  return { ...caller, via: 'session' }
}
