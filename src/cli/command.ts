// What a command of the command line is, the exit codes it may end with, and how it writes to a terminal.
import { type ParseArgsConfig, styleText } from 'node:util'

export interface Command {
  /** What may follow the command's name, as the help shows it. */
  usage: string
  summary: string
  /** More than the summary, for the command's own help. */
  details?: string
  options?: ParseArgsConfig['options']
  run(args: Arguments): Promise<void>
}

export interface Arguments {
  positionals: string[]
  options: Record<string, string | boolean | (string | boolean)[] | undefined>
}

export const EXIT = { failure: 1, usage: 2 } as const

/** Something the person at the terminal can put right; shown without a stack. */
export class CommandError extends Error {
  exitCode: number
  constructor(message: string, exitCode: number = EXIT.failure) {
    super(message)
    this.exitCode = exitCode
  }
}

export const usageError = (message: string) => new CommandError(message, EXIT.usage)

export function text(options: Arguments['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

type Style = Parameters<typeof styleText>[0]

/** styleText itself looks at the stream, NO_COLOR and FORCE_COLOR. */
export const paint = (style: Style, text: string): string =>
  styleText(style, text, { stream: process.stdout })

export const print = (line = ''): void => {
  process.stdout.write(`${line}\n`)
}

export function table(header: string[], rows: string[][]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)),
  )
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [paint('dim', line(header)), ...rows.map(line)].join('\n')
}
