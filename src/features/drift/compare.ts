// Is the live value what was desired? Loosely: scalars as text, lists as sets, objects by key, and what is missing is
// null. Nothing else is forgiven: an empty list is not null, and a list is not the text that shows it.

export const alike = (desired: unknown, actual: unknown): boolean => canonical(desired) === canonical(actual)

/** One text for all values that count as the same. */
function canonical(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join(',')}]`
  if (typeof value === 'object') return `{${members(value).sort().join(',')}}`
  return JSON.stringify(String(value))
}

/** Own members alone, whatever they are called; one that is null might as well be missing. */
function members(object: object): string[] {
  return Object.entries(object)
    .map(([key, value]) => [JSON.stringify(key), canonical(value)])
    .filter(([, value]) => value !== 'null')
    .map(([key, value]) => `${key}:${value}`)
}
