// Decides what a refusal looks like: `{id, message, request_id}`, the id being the status in words.

const words: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'server_error',
  503: 'service_unavailable',
}

export class ProviderError extends Error {
  readonly status: number
  readonly id: string
  readonly headers: Record<string, string>

  constructor(
    status: number,
    message: string,
    extra: { id?: string; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.id = extra.id ?? words[status] ?? 'server_error'
    this.headers = extra.headers ?? {}
  }
}

export const unauthorized = () => new ProviderError(401, 'Unable to authenticate you.')
export const notFound = () => new ProviderError(404, 'The resource you requested could not be found.')
export const unprocessable = (message: string) => new ProviderError(422, message)
export const conflict = (message: string) => new ProviderError(409, message)
export const tooManyRequests = (headers: Record<string, string> = {}) =>
  new ProviderError(429, 'API rate limit exceeded.', { headers })
