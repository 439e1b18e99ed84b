// Which variable of ours a name of nobody's was probably meant to be. A misspelt variable is otherwise ignored in silence,
// and its default takes its place. Pure; it must stay quiet about the names that other programs use.

export interface Likely {
  name: string
  /** There is hardly another reading: the letters, the words or our prefix say so. */
  sure: boolean
}

export function likelyName(unknown: string, known: readonly string[]): Likely | undefined {
  const name = unknown.toUpperCase().replaceAll('-', '_')
  const plain = name.replace(/^CLOUD_?OPS_(?=.)/, '').replace(/_(FILE|PATH)$/, '')
  const sure =
    known.find(one => one !== unknown && (one === plain || compact(one) === compact(name))) ??
    known.find(one => sameWords(one, name)) ??
    closest(name, known) ??
    (plain === name ? undefined : closest(plain, known))
  if (sure !== undefined) return { name: sure, sure: true }
  const likely = known.find(one => oneWordApart(one, name) || abbreviated(one, name))
  return likely === undefined ? undefined : { name: likely, sure: false }
}

const compact = (name: string): string => name.replaceAll('_', '')

/** `SECRET_JWT`. */
const sameWords = (one: string, other: string): boolean =>
  one.split('_').sort().join() === other.split('_').sort().join()

/** A word more or less inside: `DIGITALOCEAN_ACCESS_TOKEN`, `SESSION_SALT`. */
function oneWordApart(one: string, other: string): boolean {
  const [short, long] = [one.split('_'), other.split('_')].sort((a, b) => a.length - b.length)
  if (short!.length < 2 || long!.length !== short!.length + 1) return false
  return long!.some((_, i) => i > 0 && i < long!.length - 1 && long!.toSpliced(i, 1).join() === short!.join())
}

/** `RATE_LIMIT_PER_MIN`. */
function abbreviated(one: string, other: string): boolean {
  const [ours, theirs] = [one.split('_'), other.split('_')]
  const begins = (a: string, b: string) =>
    a === b || (Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a)))
  return ours.length > 1 && ours.length === theirs.length && ours.every((word, i) => begins(word, theirs[i]!))
}

function closest(name: string, known: readonly string[]): string | undefined {
  const found = known
    .map(one => ({ one, distance: distance(compact(one), compact(name)), most: mostEdits(compact(one)) }))
    .filter(({ one, distance, most }) => one !== name && distance <= most)
    .sort((a, b) => a.distance - b.distance)[0]
  if (!found) return undefined
  // One letter makes another word of a short name: POST, HOSTS, PORT. Only letters that changed places are told.
  const short = compact(found.one).length <= SHORT
  return short && !transposed(compact(found.one), compact(name)) ? undefined : found.one
}

const SHORT = 5
const mostEdits = (name: string): number => (name.length >= 10 ? 2 : 1)

const transposed = (one: string, other: string): boolean =>
  one.length === other.length && [...one].sort().join() === [...other].sort().join()

/** Letters to change, add, leave out, or swap with the next one. */
function distance(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const swapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
          ? rows[i - 2]![j - 2]! + 1
          : Number.POSITIVE_INFINITY
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same, swapped))
    }
    rows.push(row)
  }
  return rows[one.length]![other.length]!
}

/** Names that look like ours and are not. Kubernetes makes `<SERVICE>_PORT=tcp://…` by itself. */
export function misspelt(names: string[], ...environments: Record<string, string | undefined>[]) {
  const set = environments.flatMap(environment => Object.entries(environment))
  const strange = set.filter(
    ([name, value]) => value && !names.includes(name) && !/^(tcp|udp|sctp):\/\//.test(value),
  )
  return [...new Set(strange.map(([name]) => name))].flatMap(name => {
    const likely = likelyName(name, names)
    return likely ? [{ name, likely: likely.name, sure: likely.sure }] : []
  })
}
