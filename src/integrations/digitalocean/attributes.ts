// What of a provider's object may be stored as attributes: everything but noise, with secrets dropped by rule
// at any depth and arrays in one canonical order. Pure; the kind's table says what is noise.
import { isRecord } from './body.ts'
import type { KindEntry } from './kinds.ts'
import type { RawItem } from './page.ts'

/** Fields that have a column of their own. */
const columns = new Set(['id', 'name', 'region', 'region_slug', 'status', 'tags'])

/**
 * By name rather than by kind, so that a field the provider adds tomorrow is covered too. It would rather
 * lose a harmless label called "token" than store one credential.
 */
const secretName =
  /passw|secret|credential|kubeconfig|(^|_)connection$|(^|_)(token|uri|dsn|api_key|access_key|private_key|access_cert|ca_cert|client_cert|client_key)s?(_|$)|certificate_authority|client_certificate/i

/** The user part of an address such as `https://user:key@host/`. It is looked for behind each `://`, in one pass. */
const userInAddress = /(?<=[a-z0-9+.-]:\/\/)[^\s/?#@]*@/gi

/** Nothing that the provider documents is nested half as deep; a database takes a few thousand levels at most. */
const DEEPEST = 40

export interface Attributes {
  attrs: Record<string, unknown>
  /** What was left out because it is nested too deep, in words. */
  omitted: string[]
}

export function attributesOf(entry: KindEntry, raw: RawItem): Attributes {
  const omitted: string[] = []
  const left = Object.keys(raw).filter(key => !columns.has(key) && key !== entry.id)
  const attrs = cleanObject(raw, left, '', entry, DEEPEST, key => {
    omitted.push(`its attribute ${key.slice(0, 50)} is nested too deep`)
  })
  return { attrs, omitted }
}

/** Thrown where the levels end; it costs the attribute that it happens in. */
const TOO_DEEP = new Error('nested too deep')

/**
 * Object.fromEntries defines keys instead of assigning them: a field called `__proto__` stays a field. Keys
 * are sorted so that equal objects have equal texts, which the order of arrays is decided by.
 */
function cleanObject(
  from: Record<string, unknown>,
  keys: string[],
  path: string,
  entry: KindEntry,
  levels: number,
  onTooDeep?: (key: string) => void,
): Record<string, unknown> {
  const kept: [string, unknown][] = []
  for (const key of keys.sort()) {
    if (isSecret(key)) continue
    const at = path ? `${path}.${key}` : key
    if (entry.secrets.includes(at) || entry.noise.includes(at)) continue
    try {
      kept.push([key, clean(from[key], at, entry, levels)])
    } catch (error) {
      if (error !== TOO_DEEP || !onTooDeep) throw error
      onTooDeep(key)
    }
  }
  return Object.fromEntries(kept)
}

/** The provider's field names are few: each is looked at once. */
const judged = new Map<string, boolean>()
function isSecret(key: string): boolean {
  let secret = judged.get(key)
  if (secret === undefined) {
    secret = secretName.test(key)
    // Labels are keys too, and anyone may invent those.
    if (judged.size < 2_000 && key.length < 100) judged.set(key, secret)
  }
  return secret
}

function clean(value: unknown, path: string, entry: KindEntry, levels: number): unknown {
  if (typeof value === 'string') return value.includes('://') ? value.replace(userInAddress, '') : value
  if (typeof value === 'object' && value !== null && levels === 0) throw TOO_DEEP
  if (Array.isArray(value)) {
    // What an app's environment holds is nobody's inventory, marked SECRET or not: only the names are kept.
    const items = path === 'envs' || path.endsWith('.envs') ? value.map(withoutValue) : value
    const cleaned = items.map(item => clean(item, path, entry, levels - 1))
    return cleaned.length < 2 || entry.ordered.includes(path) ? cleaned : canonicallySorted(cleaned)
  }
  if (!isRecord(value)) return value
  const only = Object.hasOwn(entry.keepOnly, path) ? entry.keepOnly[path] : undefined
  const keys = Object.keys(value)
  return cleanObject(value, only ? keys.filter(key => only.includes(key)) : keys, path, entry, levels - 1)
}

function withoutValue(item: unknown): unknown {
  return isRecord(item) ? Object.fromEntries(Object.entries(item).filter(([key]) => key !== 'value')) : item
}

/** Numbers by size, everything else by its text, which is made once for each. */
function canonicallySorted(values: unknown[]): unknown[] {
  return values
    .map(value => ({ value, text: JSON.stringify(value) }))
    .sort((a, b) => {
      if (typeof a.value === 'number' && typeof b.value === 'number') return a.value - b.value
      return a.text < b.text ? -1 : a.text > b.text ? 1 : 0
    })
    .map(({ value }) => value)
}
