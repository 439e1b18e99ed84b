// JSON bodies as the API takes them: what JSON.parse accepts, less what it would take silently and something behind it
// would choke on or misread. Duplicate keys, lone surrogates, NUL, numbers that lose digits, deep nesting.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { malformed } from '../errors.ts'

export const DEEPEST = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What is read at once; of larger bodies one in each turn of the event loop. */
const SMALL_BYTES = 16 * 1024

/** A reader of bodies. Several large ones that arrive together are not one long turn: others get theirs in between. */
export function bodyReader(): (body: Buffer) => Promise<unknown> {
  let turn: Promise<unknown> = Promise.resolve()
  return async body => {
    // Many clients say that their body is JSON when they send none.
    if (body.length === 0) return null
    if (body.length > SMALL_BYTES) {
      turn = turn.then(() => nextTurn())
      await turn
    }
    return parseStrictJson(body)
  }
}

export function parseStrictJson(body: Buffer): unknown {
  const text = decode(body)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  inspect(text)
  return value
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw malformed('The body is not valid UTF-8.')
  }
}

/** Walks text that is known to be valid JSON, once, and throws on what we do not take. */
function inspect(text: string): void {
  // For each open bracket: the keys seen so far in an object, null in an array.
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : null)
      if (open.length > DEEPEST) throw malformed(`The body is nested more than ${DEEPEST} levels deep.`)
      expectsKey = char === '{'
    } else if (char === '}' || char === ']') {
      open.pop()
    } else if (char === ',') {
      expectsKey = true
    } else if (char === '"') {
      const end = endOfString(text, at)
      const content = stringAt(text, at, end)
      if (expectsKey) noteKey(open.at(-1), content)
      expectsKey = false
      at = end
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      const end = endOfNumber(text, at)
      checkNumber(text.slice(at, end))
      at = end - 1
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end)
  const content: string = raw.includes('\\') ? JSON.parse(text.slice(start, end + 1)) : raw
  if (!content.isWellFormed()) throw malformed('The body holds half of a surrogate pair.')
  if (content.includes('\0')) throw malformed('The body holds a NUL character.')
  return content
}

/** In an array, and outside of everything, a text is never a key. */
function noteKey(keys: Set<string> | null | undefined, key: string): void {
  if (keys?.has(key))
    throw malformed(`The key ${JSON.stringify(key.slice(0, 64))} stands twice in one object.`)
  keys?.add(key)
}

function endOfNumber(text: string, start: number): number {
  let at = start
  while (at < text.length && '+-.eE0123456789'.includes(text[at]!)) at++
  return at
}

function checkNumber(digits: string): void {
  const value = Number(digits)
  if (Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return
  throw malformed(`The number ${digits.slice(0, 40)} is larger than can be kept exactly (2^53 - 1).`)
}
