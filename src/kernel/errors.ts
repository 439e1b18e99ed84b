// What a use case throws when it cannot do what was asked. The kind says what sort of refusal it is;
// http/problems.ts alone turns kinds into HTTP statuses.

export type ErrorKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported'
  | 'invalid'
  | 'rate_limited'
  | 'unavailable'

export interface FieldError {
  /** JSON pointer into the body, `?name` for a query parameter, or the name of a header. */
  pointer: string
  message: string
}

export interface ErrorDetails {
  errors?: FieldError[]
  /** Further members of the problem document, such as `allowed_transitions`. */
  extra?: Record<string, unknown>
  cause?: unknown
}

export class AppError extends Error {
  kind: ErrorKind
  code: string
  errors: FieldError[] | undefined
  extra: Record<string, unknown> | undefined

  constructor(kind: ErrorKind, code: string, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'AppError'
    this.kind = kind
    this.code = code
    this.errors = details.errors
    this.extra = details.extra
  }
}

export const malformed = (message: string) => new AppError('malformed', 'malformed_body', message)
export const unauthenticated = (message: string) =>
  new AppError('unauthenticated', 'unauthenticated', message)
export const forbidden = (message: string) => new AppError('forbidden', 'forbidden', message)
/** One wording for a row that does not exist and a row of another tenant: the two must not be told apart. */
export const notFound = () => new AppError('not_found', 'not_found', 'There is nothing here by that name.')
export const conflict = (code: string, message: string, details?: ErrorDetails) =>
  new AppError('conflict', code, message, details)
export const invalid = (message: string, errors?: FieldError[]) =>
  new AppError('invalid', 'validation_failed', message, { errors })
export const unavailable = (message: string, cause?: unknown) =>
  new AppError('unavailable', 'unavailable', message, { cause })

/** A port that this process cannot have, in words for the person who starts it. */
export class PortError extends Error {}

/** What a failure of the network or the disk is called; its own words may name paths, or show a request. */
export function failureCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return error instanceof Error ? error.name : 'unknown'
}
