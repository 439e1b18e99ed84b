// Writing to a terminal: colours only on one, tables that line up.
import { styleText } from 'node:util'

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
