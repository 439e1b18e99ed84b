// Reading the parts of an answer that callers rely on. An answer without them is malformed, and after a write
// that means the write may have happened: the caller has to look before it sends another.
import { isRecord, malformed } from './body.ts'
import { idText, type RawItem } from './page.ts'

export function objectAt(body: RawItem | null, key: string, afterWrite = false): RawItem {
  const value = body && Object.hasOwn(body, key) ? body[key] : undefined
  if (!isRecord(value)) throw malformed(`the answer has no ${key}`, afterWrite)
  return value
}

export function listAt(body: RawItem | null, key: string, afterWrite = false): RawItem[] {
  const value = body && Object.hasOwn(body, key) ? body[key] : undefined
  if (!Array.isArray(value) || !value.every(isRecord))
    throw malformed(`the answer has no list ${key}`, afterWrite)
  return value
}

export function idAt(item: RawItem, key: string, afterWrite = false): string {
  const id = idText(item[key])
  if (id === null) throw malformed(`the answer has no usable ${key}`, afterWrite)
  return id
}

export function textAt(item: RawItem, key: string): string {
  const value = item[key]
  if (typeof value !== 'string') throw malformed(`the answer has no text ${key}`)
  return value
}

/** Money as the provider writes it: a decimal number in text, kept as text. */
export function decimalAt(item: RawItem, key: string): string {
  const value = textAt(item, key)
  if (!/^-?\d{1,18}(\.\d{1,18})?$/.test(value)) throw malformed(`${key} is not a decimal number`)
  return value
}

/** A moment that can be stored. */
export function timeAt(item: RawItem, key: string): string {
  const text = textAt(item, key)
  const time = text.length <= LONGEST_TIME ? new Date(text) : new Date(Number.NaN)
  const year = time.getUTCFullYear()
  if (!(year >= 1970 && year <= 9999)) throw malformed(`${key} is not a time`)
  return time.toISOString().replace('.000Z', 'Z')
}

const LONGEST_TIME = 40
