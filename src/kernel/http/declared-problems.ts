// Which problems an operation can answer with. Those that its guard, its method, its parameters and its body make
// possible follow from the route; its own it names in `config.problems`. Tests fail on an answer that is not declared.
import type { RouteOptions } from 'fastify'

/** Status → code → when it is the answer. */
export type DeclaredProblems = Record<number, Record<string, string>>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The problems that only this route gives, with a few words on when. */
    problems?: DeclaredProblems
    /** No request to it changes a row, whatever its method. */
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
