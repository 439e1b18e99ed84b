// Errors as RFC 9457 problem+json. This file alone maps a kind of error to its status. No SQL, stack or secret leaves: an
// unexpected error is logged whole and answered as `internal`.

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { problemOfDatabaseError } from '../db/errors.ts'
import { AppError, type ErrorKind, type FieldError, invalid, malformed, notFound } from '../errors.ts'
import { http } from '../node-http.ts'
import { fieldErrors, MOST_ERRORS } from './validation.ts'

const STATUS: Record<ErrorKind, number> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  invalid: 422,
  rate_limited: 429,
  unavailable: 503,
}

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: string
  request_id: string
  errors?: FieldError[]
}

export function problem(status: number, code: string, detail: string, requestId: string): Problem {
  return {
    type: `urn:cloudops:problem:${code}`,
    title: http.STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    request_id: requestId,
  }
}

/** The error as the caller may see it; undefined when the fault is ours. */
export const refusalOf = (error: Error, request: FastifyRequest): AppError | undefined =>
  known4xx(error, request) ?? problemOfDatabaseError(error)

export const problemOf = ({ kind, code, message, errors, extra }: AppError, requestId: string): Problem => ({
  ...problem(STATUS[kind], code, message, requestId),
  ...(errors && { errors: errors.slice(0, MOST_ERRORS) }),
  ...extra,
})

export const PROBLEM_HEADERS = { 'cache-control': 'no-store', 'content-type': 'application/problem+json' }

export function sendProblem(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = refusalOf(error, request)
  if (!known) {
    request.log.error({ err: error }, 'unexpected error')
    const body = problem(
      500,
      'internal',
      'Something went wrong on our side. The log has the details.',
      request.id,
    )
    return send(request, reply, body)
  }
  const status = STATUS[known.kind]
  if (status >= 500) request.log.error({ err: known.cause ?? known }, known.message)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (status === 503) reply.header('retry-after', '5')
  return send(request, reply, problemOf(known, request.id))
}

function send(request: FastifyRequest, reply: FastifyReply, body: Problem): FastifyReply {
  request.problem = { code: body.code, detail: body.detail }
  return reply.code(body.status).headers(PROBLEM_HEADERS).send(JSON.stringify(body))
}

/** Our own refusals, and the framework's: bad bodies, bad URLs, failed validation. */
function known4xx(error: Error & Partial<FastifyError>, request: FastifyRequest): AppError | undefined {
  if (error instanceof AppError) return error
  if (error.validation) {
    // A path parameter that cannot be an id names nothing.
    if (error.validationContext === 'params') return notFound()
    const part = error.validationContext ?? 'body'
    return invalid(
      `The ${part === 'querystring' ? 'query' : part} is not acceptable.`,
      fieldErrors(error.validation, part),
    )
  }
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('unsupported', 'unsupported_media_type', 'Send the body as application/json.')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(
        'too_large',
        'payload_too_large',
        `The body is larger than ${Math.floor(request.routeOptions.bodyLimit / 1024)} KiB, the most that is taken here.`,
      )
  }
  if (error.statusCode === 404 || error.statusCode === 414) return notFound()
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500)
    return malformed('The request is malformed.')
  return undefined
}

const CLIENT_ERRORS: Record<string, [status: number, code: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The request’s headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request did not arrive in time.'],
}

/** For what Node cannot parse as a request: broken HTTP, headers too large, bytes that stop coming. */
export function sendClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, code, detail] = CLIENT_ERRORS[error.code ?? ''] ?? [
    400,
    'malformed_request',
    'The request is not valid HTTP.',
  ]
  const body = JSON.stringify(problem(status, code, detail, randomUUID()))
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n` +
      'Content-Type: application/problem+json\r\nConnection: close\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Status → code → when it is given. */
export type DeclaredProblems = Record<number, Record<string, string>>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The problems that only this route gives, with a few words on when. */
    problems?: DeclaredProblems
    /** The route changes no row, whatever its method. */
    storesNothing?: boolean
  }
}

export const COMMON = {
  malformed_body: 'The body cannot be read: it is not JSON, too deep, or holds what no text may.',
  unauthenticated: 'No token, or one that is not good.',
  forbidden: 'The caller may not do this.',
  user_suspended: 'The caller is suspended.',
  not_found: 'Nothing of that name, or not for this caller.',
  conflict: 'Another request changed the same thing at the same time. Try again.',
  payload_too_large: 'The body is larger than this operation takes; `detail` says how large it may be.',
  unsupported_media_type: 'The body is not application/json.',
  validation_failed: 'A value is not acceptable; `errors` names each.',
  rate_limited: 'Too many requests; `Retry-After` says when to go on.',
  internal: 'A fault of the service.',
  unavailable:
    'The service cannot answer now, or the issuer’s keys cannot be fetched to judge the token; `Retry-After` says when to try again.',
  query_timeout: 'The database took too long over this; a narrower question may be answered.',
  database_cannot_write: 'The database cannot write: a full disk, or a read-only standby. Reads still work.',
}

const SAFE = new Set(['GET', 'HEAD'])

const IDEMPOTENCY: DeclaredProblems = {
  409: {
    idempotency_in_progress: 'The first request under this key is still being worked on.',
    idempotency_answer_lost: 'It was done before, but the answer can no longer be read.',
  },
  422: { idempotency_key_reused: 'The key was used for another request.' },
}

/**
 * Every problem that an operation can give: those that follow from its guard, method, parameters and body, and its own,
 * which it names in `config.problems`. Tests fail on a response that is not declared.
 */
export function problemsOf({ config, method, schema }: RouteOptions): DeclaredProblems {
  const declared: DeclaredProblems = {}
  const add = (status: number, codes: Record<string, string>) => {
    declared[status] = { ...declared[status], ...codes }
  }
  const common = (status: number, code: keyof typeof COMMON) => add(status, { [code]: COMMON[code] })

  common(503, 'unavailable')
  common(503, 'query_timeout')
  common(503, 'database_cannot_write')
  common(429, 'rate_limited')
  if (config?.guard !== 'public') {
    common(401, 'unauthenticated')
    common(403, 'forbidden')
    common(403, 'user_suspended')
    common(500, 'internal')
  }
  if (schema?.params) common(404, 'not_found')
  if (schema?.body || schema?.querystring || config?.idempotent) common(422, 'validation_failed')
  if (!SAFE.has(String(method))) {
    // A body is read whether the route wants one or not.
    common(400, 'malformed_body')
    common(413, 'payload_too_large')
    common(415, 'unsupported_media_type')
    if (!config?.storesNothing) common(409, 'conflict')
  }
  for (const more of [config?.problems, config?.idempotent && IDEMPOTENCY]) {
    for (const [status, codes] of Object.entries(more || {})) add(Number(status), codes)
  }
  return declared
}
