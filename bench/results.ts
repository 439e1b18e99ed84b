// What runs leave: what was measured last of each figure (bench/results.json), and made from it bench/RESULTS.md, ratios first,
// and the plot of cost against size.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../src/version.ts'
import { query } from './database.ts'
import { barInWords, type Figure, type Measurement, type Result, resultFrom } from './figure.ts'

export interface Surroundings {
  machine: string
  /** Of the last minute: what else the machine was doing. */
  load: number
  versions: Record<string, string>
  /** Of PostgreSQL: what decides how long a commit takes and what fits into its memory. */
  settings: Record<string, string>
}

const DURABLE = ['fsync', 'synchronous_commit', 'full_page_writes']
const SETTINGS = [...DURABLE, 'wal_sync_method', 'wal_level', 'shared_buffers', 'work_mem', 'max_wal_size']

export async function surroundings(server: string): Promise<Surroundings> {
  const rows = (await query(
    server,
    'select name, current_setting(name) as value from pg_settings where name = any($1) order by array_position($1, name)',
    [['server_version', ...SETTINGS]],
  )) as { name: string; value: string }[]
  const { server_version, ...settings } = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  if (DURABLE.some(name => settings[name] !== 'on'))
    throw new Error(`PostgreSQL is not durable (${DURABLE.join(', ')}): figures would say little.`)
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1)
  return {
    machine: `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${gigabytes} GiB, ${type()}`,
    load: loadavg()[0]!,
    versions: {
      cloudops: VERSION,
      node: process.versions.node,
      postgresql: server_version ?? 'unknown',
      fastify: packageVersion('fastify'),
      pg: packageVersion('pg'),
      'dbos-sdk': packageVersion('@dbos-inc/dbos-sdk'),
    },
    settings: settings as Record<string, string>,
  }
}

function packageVersion(name: string): string {
  const file = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/** A measurement as it is kept, by the name of its figure. */
interface Kept extends Measurement {
  /** The day. */
  at: string
  load: number
}

interface Book extends Omit<Surroundings, 'load'> {
  figures: Record<string, Kept>
}

const file = (name: string) => join(import.meta.dirname, name)

/** Figures of another machine are not put beside these. */
function readBook(machine: string): Book['figures'] {
  if (!existsSync(file('results.json'))) return {}
  const book = JSON.parse(readFileSync(file('results.json'), 'utf8')) as Book
  return book.machine === machine ? book.figures : {}
}

/** At once, so that a run that is broken off has not been for nothing. */
export function keep(
  figures: Figure[],
  { figure, ours, peer, details, bySize }: Result,
  { load, ...where }: Surroundings,
): void {
  const at = new Date().toISOString().slice(0, 10)
  const measured = { ...readBook(where.machine), [figure.name]: { ours, peer, details, bySize, at, load } }
  const known = figures.filter(({ name }) => measured[name])
  const book: Book = {
    ...where,
    figures: Object.fromEntries(known.map(({ name }) => [name, measured[name]!])),
  }
  const results = known.map(one => ({ ...measured[one.name]!, ...resultFrom(one, measured[one.name]!) }))
  writeFileSync(file('results.json'), `${JSON.stringify(book, null, 2)}\n`)
  writeFileSync(file('RESULTS.md'), resultsPage(results, where))
  writeFileSync(file('cost-by-size.svg'), plot(results) ?? '')
}

function resultsPage(
  results: (Result & Kept)[],
  { machine, versions, settings }: Omit<Surroundings, 'load'>,
): string {
  const missed = results.filter(result => !result.met).length
  return [
    '# Bench results',
    '',
    'Written by `npm run bench`; a figure and what it stands beside are measured in the same run, on the same PostgreSQL. Read the ratio against its bar: ratios hold from machine to machine, the figures behind them do not. Each figure’s own part says what ours is, what the peer is and leaves out, and gives every round.',
    '',
    `- Machine: ${machine}`,
    `- Versions: ${inWords(versions)}`,
    `- PostgreSQL is durable, and otherwise as by default: ${inWords(settings)}`,
    '',
    missed === 0 ? 'Every bar is met.' : `**${missed} of ${results.length} bars missed.**`,
    '',
    `| Figure | Ratio (ours ÷ peer) | Bar | Met | Ours | Peer | Unit | Measured on | Load before |`,
    '|---|---:|---:|---|---:|---:|---|---|---:|',
    ...results.map(row),
    '',
    '![Cost of one row against the number of rows](cost-by-size.svg)',
    ...results.flatMap(part),
    '',
  ].join('\n')
}

const inWords = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const row = ({ figure, ratio, met, ours, peer, at, load }: Result & Kept): string =>
  `| [${figure.name}](#${figure.name}) | **${ratio.toFixed(2)}** | ${barInWords(figure)} | ${met ? 'yes' : '**NO**'} | ${shown(ours)} | ${shown(peer)} | ${figure.unit} | ${at} | ${load.toFixed(1)} |`

const part = ({ figure, details }: Result): string[] => [
  '',
  `## ${figure.name}`,
  '',
  `Ours: ${figure.measures}`,
  '',
  `Peer: ${figure.peer}`,
  '',
  ...details,
]

/** Three digits that mean something, and no false precision. */
const shown = (value: number): string =>
  value.toLocaleString('en-US', value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })

const WIDTH = 720
const HEIGHT = 420
const LEFT = 70
const RIGHT = 200
const TOP = 30
const BOTTOM = 50
const COLOURS = ['#1b6ca8', '#c8553d', '#3a7d44', '#7b4fa3', '#b8860b', '#555555']

interface Series {
  name: string
  points: { size: number; cost: number }[]
}

/**
 * bench/cost-by-size.svg: what one row costs as the rows become more, for every figure that was measured at several sizes.
 * A flat line is what is wanted. Logarithmic both ways, for sizes and costs span orders of magnitude.
 */
function plot(results: Result[]): string | undefined {
  const series = results.flatMap(({ figure, bySize }): Series[] =>
    bySize && bySize.length > 1 ? [{ name: figure.name, points: bySize }] : [],
  )
  if (series.length === 0) return undefined
  const points = series.flatMap(one => one.points)
  const x = scale(
    points.map(point => point.size),
    LEFT,
    WIDTH - RIGHT,
  )
  const y = scale(
    points.map(point => point.cost),
    HEIGHT - BOTTOM,
    TOP,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    '<title>Cost of one row against the number of rows</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${LEFT}" y="18" font-size="14">Cost of one row against the number of rows</text>`,
    ...x.decades.map(
      value =>
        `<line x1="${x.at(value)}" x2="${x.at(value)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/><text x="${x.at(value)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${value.toLocaleString('en-US')}</text>`,
    ),
    ...y.decades.map(
      value =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y.at(value)}" y2="${y.at(value)}" stroke="#ddd"/><text x="${LEFT - 8}" y="${y.at(value) + 4}" text-anchor="end">${value} µs</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">rows</text>`,
    ...series.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length]
      const line = points.map(({ size, cost }) => `${x.at(size)},${y.at(cost)}`).join(' ')
      return [
        `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(
          ({ size, cost }) => `<circle cx="${x.at(size)}" cy="${y.at(cost)}" r="3" fill="${colour}"/>`,
        ),
        `<rect x="${WIDTH - RIGHT + 14}" y="${TOP + index * 20}" width="10" height="10" fill="${colour}"/><text x="${WIDTH - RIGHT + 30}" y="${TOP + 9 + index * 20}">${name}</text>`,
      ]
    }),
    '</svg>',
    '',
  ].join('\n')
}

/** From values to pixels by whole decades. */
function scale(values: number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    decades: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    at: (value: number) =>
      Math.round(10 * (from + ((Math.log10(value) - low) / (high - low)) * (to - from))) / 10,
  }
}
