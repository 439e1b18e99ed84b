// Reading an answer's body: bounded text, and JSON that is really JSON. Pure of any knowledge of endpoints.
import { ProviderError } from './errors.ts'

/** Answers up to this size are parsed as they are; larger ones are looked at for how many values they hold. */
const COUNTED_FROM_BYTES = 4 * 1024 * 1024
/** A hundred times what a full page holds. Each takes memory once parsed, however few bytes it has. */
const MOST_VALUES = 2_000_000

/**
 * The whole body as UTF-8 text; refuses to hold more than `maxBytes`, or what would be more values than a process should
 * hold. What came compressed is unfolded by then: both bounds hold for what it unfolds to.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let [bytes, values] = [0, 0]
  for await (const chunk of body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream, so the connection does not keep pouring.
    if (bytes > maxBytes) throw malformed(`the answer is larger than ${maxBytes} bytes`)
    if (bytes > COUNTED_FROM_BYTES) values += separators(chunk)
    if (values > MOST_VALUES) throw malformed(`the answer holds more than ${MOST_VALUES} values`)
    text += decode(decoder, chunk)
  }
  return text + decode(decoder)
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/** Commas and opening brackets: as many as there are values, or more where texts hold some. */
function separators(chunk: Uint8Array): number {
  let count = 0
  for (const byte of chunk) if (byte === COMMA || byte === BRACKET || byte === BRACE) count++
  return count
}

/** The bytes as they come, up to so many; one more ends the reading. */
export function bounded(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes <= maxBytes) controller.enqueue(chunk)
        else controller.error(malformed(`the compressed answer unfolds to more than ${maxBytes} bytes`))
      },
    }),
  )
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
