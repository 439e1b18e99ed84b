// The log as a person at a terminal reads it: one line for each, without what only programs need. Some of what a log says
// is other people's text, so nothing in it reaches the terminal as a control code.
import { styleText } from 'node:util'

export interface PlainLog {
  /** What pino writes to. */
  write(line: string): void
  /** Whether from now on only warnings and errors are shown. */
  quiet(on: boolean): void
}

const WARN = 40
const ERROR = 50
/** Longer lists are only counted. */
const LONGEST_LIST = 3

type Line = {
  level: number
  time: string
  msg?: string
  err?: { stack?: string; message?: string }
} & Record<string, unknown>

export function plainLog(out: (text: string) => void): PlainLog {
  let least = 0
  return {
    quiet(on) {
      least = on ? WARN : 0
    },
    write(text) {
      const line = JSON.parse(text) as Line
      if (line.level >= least) out(`${plainLine(line)}\n`)
    },
  }
}

function plainLine({ level, time, msg = '', err, service: _service, ...details }: Line): string {
  const shown = Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${plainValue(value)}`)
  const context = shown.length === 0 ? '' : ` ${styled('dim', `(${harmless(shown.join(', '))})`)}`
  const style = level >= ERROR ? 'red' : level >= WARN ? 'yellow' : undefined
  const message = style === undefined ? harmless(msg) : styled(style, harmless(msg))
  const stack = (err?.stack ?? err?.message ?? '').split('\n').filter(Boolean)
  return [
    `${styled('dim', clockTime(time))}  ${message}${context}`,
    ...stack.map(row => `  ${harmless(row)}`),
  ].join('\n')
}

const clockTime = (time: string): string => new Date(time).toTimeString().slice(0, 8)

function plainValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value.length > LONGEST_LIST ? String(value.length) : value.join(' ')
}

/** Control codes, and what turns the direction of the text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const harmless = (text: string): string => text.replace(CONTROLS, '�')

/** styleText itself looks at the stream, NO_COLOR and FORCE_COLOR. */
const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
  styleText(style, text, { stream: process.stdout })
