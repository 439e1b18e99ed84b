// Are two JSON values the same? Keys of objects have no order; arrays do (the provider client has sorted those whose
// order means nothing).

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
    )
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return keys.every(key => Object.hasOwn(right, key) && same(left[key], right[key]))
}
