// FOCUS 1.2 by the foundation's own rules (test/fixtures/focus): which of them apply, and whether a file keeps each. It shares
// nothing with the service's export. A rule that the model only puts into words is checked by focus-meanings.ts and focus-formats.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decimal, isDecimal, product } from './decimals.ts'

type Check = readonly [name: string, ...args: unknown[]]

export interface Rule {
  entity: 'Dataset' | 'Column' | 'Attribute'
  of: string
  keyword: string
  criteria?: string[]
  check?: Check
  when?: Check
}

const read = (): Record<string, Rule> =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/focus/rules-1.2.json'), 'utf8'))
export const RULES: ReadonlyMap<string, Rule> = new Map(Object.entries(read()))

export type Cells = Readonly<Record<string, string | null>>

export interface FocusFile {
  columns: readonly string[]
  rows: readonly Cells[]
}

/** What a rule of words says of a file: what is wrong, or nothing. */
export type Meaning = (file: FocusFile) => string | undefined

/** The rules that hold for a provider of which these criteria are true: from the whole data set down, and of all formats. */
export function applicable(criteria: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  const visit = (id: string) => {
    const rule = RULES.get(id)!
    if (found.has(id) || !(rule.criteria ?? []).every(name => criteria.has(name))) return
    found.add(id)
    for (const member of membersOf(rule.check)) visit(member)
  }
  visit('CostAndUsage-D-000-M')
  for (const [id, { entity }] of RULES) if (entity === 'Attribute') visit(id)
  return found
}

function membersOf(check: Check | undefined): string[] {
  if (!check) return []
  const [name, ...args] = check
  if (name === 'CheckModelRule') return [args[0] as string]
  return args.flatMap(arg => (Array.isArray(arg) ? membersOf(arg as unknown as Check) : []))
}

export const isMust = (id: string): boolean => /^MUST( NOT)?$/.test(RULES.get(id)!.keyword)

/** A rule that is made of others. */
export const isComposite = (id: string): boolean => membersOf(RULES.get(id)!.check).length > 0

interface Checked {
  criteria: ReadonlySet<string>
  meanings: Readonly<Record<string, Meaning>>
  /** Rules that are known not to be met: what is made of them is not broken by them. */
  excused: ReadonlySet<string>
}

/** What is wrong with the file by each rule that applies and must be kept. */
export function brokenRules(file: FocusFile, { criteria, meanings, excused }: Checked): Map<string, string> {
  const applies = applicable(criteria)
  const verdicts = new Map<string, string | undefined>()

  function verdictOf(id: string): string | undefined {
    if (!verdicts.has(id)) verdicts.set(id, judge(id))
    return verdicts.get(id)
  }

  function judge(id: string): string | undefined {
    const { check, when } = RULES.get(id)!
    const rows = file.rows.filter(row => !when || holds(when, row))
    if (!check) {
      if (when && rows.length === 0) return undefined
      const meaning = meanings[id]
      if (!meaning) throw new Error(`nobody says what ${id} means`)
      return meaning({ ...file, rows })
    }
    if (rows.length === 0) return isOfWhole(check) && !holdsForWhole(check) ? 'no row' : undefined
    const bad = rows.find(row => !holds(check, row))
    return bad && `${JSON.stringify(check).slice(0, 120)}: ${JSON.stringify(bad)}`
  }

  /** A member counts where it applies, must be kept, and is not known to be broken. */
  function memberHolds(id: string, row: Cells): boolean {
    if (!applies.has(id) || !isMust(id) || excused.has(id)) return true
    const { check, when } = RULES.get(id)!
    if (when && !holds(when, row)) return true
    return check ? holds(check, row) : verdictOf(id) === undefined
  }

  const wholes = new Map<Check, boolean>()
  const holdsForWhole = (check: Check): boolean => {
    if (!wholes.has(check)) wholes.set(check, WHOLE[check[0]]!(check.slice(1) as string[], file))
    return wholes.get(check)!
  }

  function holds(check: Check, row: Cells): boolean {
    const [name, ...args] = check
    const items = args as unknown as Check[]
    if (name === 'AND') return items.every(item => holds(item, row))
    if (name === 'OR') return items.some(item => holds(item, row))
    if (name === 'CheckModelRule') return memberHolds(args[0] as string, row)
    if (isOfWhole(check)) return holdsForWhole(check)
    const cell = (at: number) => row[args[at] as string] ?? null
    return OF_ROW[name]!(cell, args)
  }

  const broken = new Map<string, string>()
  for (const id of applies) {
    const problem = isMust(id) ? verdictOf(id) : undefined
    if (problem !== undefined) broken.set(id, problem)
  }
  return broken
}

const isOfWhole = ([name]: Check): boolean => Object.hasOwn(WHOLE, name)

/** Checks of a file as a whole. */
const WHOLE: Record<string, (args: string[], file: FocusFile) => boolean> = {
  ColumnPresent: ([column], { columns }) => columns.includes(column!),
  CheckDistinctCount: ([a, b, count], { rows }) => {
    const seen = Map.groupBy(
      rows.filter(row => row[a!] !== null),
      row => row[a!],
    )
    return [...seen.values()].every(group => new Set(group.map(row => row[b!])).size === Number(count))
  },
}

type OfRow = (cell: (at: number) => string | null, args: unknown[]) => boolean
const unlessNull =
  (test: (text: string) => boolean): OfRow =>
  cell =>
    cell(0) === null || test(cell(0)!)

export const isDateTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text))

const DATA = '[KMGTPE]i?B|[KMGTPE]i?b|B|b'
const TIMES = 'Years|Months|Days|Hours|Minutes|Seconds'
const UNIT = new RegExp(
  `^(?:\\d+ )?(?:${DATA}|${TIMES}|[A-Z][A-Za-z]*)(?:-(?:${TIMES})|/(?:${TIMES.replaceAll('s|', '|')}))?$`,
)

export const isUnit = (text: string): boolean => UNIT.test(text)

/** An object of plain values, none of its keys twice: what is read is written again as it was. */
export function isKeyValue(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return JSON.stringify(value) === text && Object.values(value).every(each => typeof each !== 'object')
  } catch {
    return false
  }
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))
const isCurrency = (text: string): boolean => CURRENCIES.has(text)

const OF_ROW: Record<string, OfRow> = {
  CheckValue: (cell, [, value]) => sameValue(cell(0), value),
  CheckNotValue: (cell, [, value]) => !sameValue(cell(0), value),
  CheckSameValue: cell => cell(0) === cell(1),
  CheckNotSameValue: cell => cell(0) !== cell(1),
  CheckDecimalValue: unlessNull(isDecimal),
  CheckGreaterOrEqualThanValue: (cell, [, value]) => cell(0) === null || Number(cell(0)) >= Number(value),
  CheckNationalCurrency: unlessNull(isCurrency),
  ColumnByColumnEqualsColumnValue: cell =>
    [0, 1, 2].some(at => cell(at) === null) || product(cell(0)!, cell(1)!) === decimal(cell(2)!),
  FormatCurrency: unlessNull(isCurrency),
  FormatDateTime: unlessNull(isDateTime),
  FormatKeyValue: unlessNull(isKeyValue),
  FormatNumeric: unlessNull(isDecimal),
  FormatString: unlessNull(text => text.isWellFormed() && !text.includes('\ufffd')),
  FormatUnit: unlessNull(isUnit),
  TypeDateTime: unlessNull(isDateTime),
  TypeDecimal: unlessNull(isDecimal),
  TypeString: unlessNull(text => text.trim() !== ''),
}

const sameValue = (cell: string | null, value: unknown): boolean =>
  typeof value === 'number' ? cell !== null && Number(cell) === value : cell === value
