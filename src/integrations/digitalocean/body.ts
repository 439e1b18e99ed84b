// Reading an answer's body: bounded text, and JSON that is really JSON. Pure of any knowledge of endpoints.
import { ProviderError } from './errors.ts'

/** The whole body as UTF-8 text; refuses to hold more than `maxBytes`. */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream, so the connection does not keep pouring.
    if (bytes > maxBytes) throw malformed(`the answer is larger than ${maxBytes} bytes`)
    text += decode(decoder, chunk)
  }
  return text + decode(decoder)
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    throw malformed('the answer is not UTF-8 text')
  }
}

/** The body as a JSON object. Says which of the usual impostors it met. */
export function parseObject(text: string): Record<string, unknown> {
  if (text.trim() === '') throw malformed('the answer is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const html = /^\s*</.test(text)
    throw malformed(html ? 'the answer is HTML, not JSON' : 'the answer is cut or not JSON')
  }
  if (!isRecord(value)) throw malformed('the answer is JSON but not an object')
  return value
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function malformed(message: string, mayHaveHappened = false): ProviderError {
  return new ProviderError(message, { kind: 'malformed', mayHaveHappened })
}
