// Every error leaves as RFC 9457 problem+json, and this file alone knows which status a kind of error has. Nothing of
// SQL, stacks or secrets is in it: an unexpected error is logged whole and answered as `internal`.
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { problemOfDatabaseError } from '../db/errors.ts'
import { AppError, type ErrorKind, type FieldError, invalid, malformed, notFound } from '../errors.ts'
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
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    request_id: requestId,
  }
}

/** What the error tells the caller, or undefined when it is a fault of ours. */
export const refusalOf = (error: Error, request: FastifyRequest): AppError | undefined =>
  known4xx(error, request) ?? problemOfDatabaseError(error)

export const problemOf = ({ kind, code, message, errors, extra }: AppError, requestId: string): Problem => ({
  ...problem(STATUS[kind], code, message, requestId),
  ...(errors && { errors: errors.slice(0, MOST_ERRORS) }),
  ...extra,
})

export const PROBLEM_HEADERS = { 'cache-control': 'no-store', 'content-type': 'application/problem+json' }

export function answer(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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

/** Our own refusals, and the framework's: bad bodies, bad addresses, failed validation. */
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
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return notFound()
  }
  if (error.statusCode === 404 || error.statusCode === 414) return notFound()
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500)
    return malformed('The request is malformed.')
  return undefined
}
