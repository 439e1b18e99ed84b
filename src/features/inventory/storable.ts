// How much of a resource is stored. The provider's own limits are far below; whatever is above them was never meant to be
// there, and must not keep the rest of a listing out of the database. Pure.

export const LONGEST_TEXT = 255
export const MOST_TAGS = 500
/** Characters of all attributes of a resource together, as JSON. */
export const LARGEST_ATTRS = 256 * 1024

/** What is wrong with a resource that cannot be stored at all, in words for whoever reads the sweep's record. */
export class UnstorableError extends Error {}

/** An id that the database can hold and find again. */
export const isStorableId = (id: string): boolean =>
  id.length <= LONGEST_TEXT && !id.includes('\0') && id.isWellFormed()

/** The text, or its beginning. */
export function fitText<T extends string | null | undefined>(text: T, field: string, cut: string[]): T {
  if (typeof text !== 'string' || text.length <= LONGEST_TEXT) return text
  cut.push(`its ${field} was cut to ${LONGEST_TEXT} characters`)
  const end = isHighSurrogate(text, LONGEST_TEXT - 1) ? LONGEST_TEXT - 1 : LONGEST_TEXT
  return text.slice(0, end) as T
}

const isHighSurrogate = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800

/**
 * A cut tag would be another tag: one that is too long is left out. Of too many, those that `matters` says are kept
 * first.
 */
export function fitTags<T extends string[] | undefined>(
  tags: T,
  matters: (tag: string) => boolean,
  cut: string[],
): T {
  if (!tags || (tags.length <= MOST_TAGS && tags.every(tag => tag.length <= LONGEST_TEXT))) return tags
  const short = tags.filter(tag => tag.length <= LONGEST_TEXT)
  const kept = [...short.filter(matters), ...short.filter(tag => !matters(tag))].slice(0, MOST_TAGS)
  cut.push(`${kept.length} of its ${tags.length} tags were kept`)
  return kept.sort() as T
}

/** The largest attributes are left out until the others fit; what is known of them stays as it was. */
export function fitAttrs(attrs: Record<string, unknown>, cut: string[]): Record<string, unknown> {
  const sized = Object.entries(attrs)
    .map(([key, value]) => ({ key, value, size: key.length + (JSON.stringify(value) ?? '').length }))
    .sort((a, b) => a.size - b.size)
  let [total, kept] = [0, 0]
  while (kept < sized.length && total + sized[kept]!.size <= LARGEST_ATTRS) total += sized[kept++]!.size
  if (kept < sized.length) cut.push(`its largest attributes were left out (${sized.length - kept})`)
  const fitting = sized.slice(0, kept).sort((a, b) => (a.key < b.key ? -1 : 1))
  return Object.fromEntries(fitting.map(({ key, value }) => [key, value]))
}
