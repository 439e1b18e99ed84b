// Secrets of the configuration: how much there is to guess in one, and those for a start without configuration.
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is asked of each byte that a secret must have: half of what random hexadecimal digits give. */
const BITS_PER_BYTE = 2

/** Six letters and more: shorter ones come up in random text. */
const PLACEHOLDERS =
  /change[-_ .]?(me|this|it)|place[-_ ]?holder|p[a@]ssw[o0]rd|(your|my|top|super|default|some|any)[-_ .]*(jwt|app|api|session|long|very)?[-_ .]*(secret|s3cr3t)|your[-_ .]*(jwt|app|api|session|secret)?[-_ .]*key|replace[-_ .]?(me|this|with)|example|insert[-_ .]|letmein|quick[-_ ]?brown|not[-_ .]?(a[-_ .]?|so[-_ .]?)?(secret|secure)|insecure|deadbeef|cafebabe|<.*>|\$\{/i

/** Why a secret is not good enough for production; undefined when it is. */
export function weakness(value: string, minBytes: number): string | undefined {
  const short = shortness(value, minBytes)
  if (short) return short
  if (new Set(value).size < minBytes / 4) return 'has too few different characters'
  if (PLACEHOLDERS.test(value)) return 'looks like a placeholder'
  if (bitsOf(value) >= BITS_PER_BYTE * minBytes) return undefined
  return spellsWords(value) ? 'is made of words' : 'repeats itself or counts up'
}

export function shortness(value: string, bytes: number): string | undefined {
  const length = Buffer.byteLength(value)
  return length < bytes ? `is ${length} bytes, at least ${bytes} are needed` : undefined
}

/**
 * What remains to be guessed by somebody who tries repetitions, sequences and words first. A rough, generous estimate:
 * whatever a random generator makes is far above the line.
 */
export function bitsOf(value: string): number {
  const bits = freshCharacters(value) * Math.log2(new Set(value).size)
  return spellsWords(value) ? Math.min(bits, BITS_PER_WRITTEN_LETTER * value.length) : bits
}

/** Written English has about one. */
const BITS_PER_WRITTEN_LETTER = 1.2
const SHORTEST_REPEAT = 3

/** Characters that follow neither from what came before in the text nor from a sequence; a repeat counts as one. */
function freshCharacters(value: string): number {
  const text = value.toLowerCase()
  let fresh = 0
  for (let at = 0; at < text.length; ) {
    const length = Math.max(longestRepeat(text, at), longestRun(text, at))
    fresh += 1
    at += length >= SHORTEST_REPEAT ? length : 1
  }
  return fresh
}

/** How much of the text from here on has been there before. */
function longestRepeat(text: string, at: number): number {
  let longest = 0
  for (let from = 0; from < at; from += 1) {
    let length = 0
    while (at + length < text.length && text[from + length] === text[at + length]) length += 1
    longest = Math.max(longest, length)
  }
  return longest
}

const KEYBOARD = '1234567890 qwertyuiop asdfghjkl zxcvbnm'
const ROWS = `${KEYBOARD} ${[...KEYBOARD].reverse().join('')}`
/** In random digits a few are in order by chance, and of every second character some more. */
const [SHORTEST_RUN, SHORTEST_WOVEN_RUN] = [5, 8]

/** How far the text goes on in order from here: `aaaa`, `4567`, `ihgf`, `qwer`, or two of these woven, `1q2w3e4r`. */
function longestRun(text: string, at: number): number {
  const [run, woven] = [runOf(1), runOf(2)]
  return Math.max(run >= SHORTEST_RUN ? run : 1, woven >= SHORTEST_WOVEN_RUN ? woven : 1)

  function runOf(stride: number): number {
    let end = at
    while (end + stride < text.length && follows(text[end]!, text[end + stride]!)) end += 1
    return end === at ? 1 : end - at + stride
  }
}

const follows = (one: string, next: string): boolean =>
  Math.abs(next.charCodeAt(0) - one.charCodeAt(0)) <= 1 || ROWS.includes(one + next)

/** Pairs of letters that make up half of written English, and a twelfth of random letters. */
const PAIRS = new Set(
  (
    'th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur ' +
    'ct ke ey cr ec ro ic ne io ri co me li ch be ma om us so su pe ss wo rd'
  ).split(' '),
)
const WORDY = 0.45
const FEWEST_PAIRS = 16
/** On average. */
const SHORTEST_STRETCH = 3

/** Mostly letters, in stretches of one case, whose pairs are those of English. Random text is hardly ever all three. */
function spellsWords(value: string): boolean {
  const letters = value.match(/[a-z]/gi)?.length ?? 0
  const stretches = value.match(/[A-Z]?[a-z]+|[A-Z]+/g)?.length ?? 0
  if (letters < 0.7 * value.length || letters < SHORTEST_STRETCH * stretches) return false
  const pairs = [...value.toLowerCase().matchAll(/(?=([a-z]{2}))/g)].map(([, pair]) => pair!)
  return pairs.length >= FEWEST_PAIRS && pairs.filter(pair => PAIRS.has(pair)).length >= WORDY * pairs.length
}

export interface DevelopmentSecrets {
  JWT_SECRET: string
  SECRET_KEY: string
  SESSION_SIGNING_SALT: string
}

/**
 * Made once and kept in DATA_DIR, so that tokens and cookies survive a restart. Never used in production. `make` false: only
 * those that are there.
 */
export function developmentSecrets(dataDir: string, make: boolean): Partial<DevelopmentSecrets> {
  const file = join(dataDir, 'development-secrets.json')
  return read(file) ?? (make ? create(dataDir, file) : {})
}

function read(file: string): DevelopmentSecrets | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(
      `${file} cannot be read (${(error as Error).message}); delete it to have new secrets made`,
    )
  }
}

function create(dataDir: string, file: string): DevelopmentSecrets {
  const secret = () => randomBytes(48).toString('base64url')
  const secrets = { JWT_SECRET: secret(), SECRET_KEY: secret(), SESSION_SIGNING_SALT: secret() }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Written whole, then linked into place: of two processes starting together one wins, the other reads it.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
    return secrets
  } catch {
    return read(file) ?? secrets
  } finally {
    rmSync(draft, { force: true })
  }
}
