// Reads all lines of an export batch by batch. An invoice that is ingested anew meanwhile has other lines, with other ids:
// a file with both would count them twice. So it is broken off, and whoever asked asks again.
import { unavailable } from '../../kernel/errors.ts'

export interface ExportSource<Row> {
  /** Changes when lines are replaced. */
  version(): Promise<number>
  /** The rows after this one. */
  read(after: Row | null, limit: number): Promise<Row[]>
}

const AT_A_TIME = 2_000

export async function* exportLines<Row>(
  { version, read }: ExportSource<Row>,
  most = Infinity,
): AsyncGenerator<Row[]> {
  const before = await version()
  let after: Row | null = null
  for (let left = most; ; ) {
    const limit = Math.min(left, AT_A_TIME)
    const rows: Row[] = await read(after, limit)
    left -= rows.length
    after = rows.at(-1) ?? null
    const isLast = left === 0 || rows.length < limit
    // Before the last batch is handed on: a small file is then refused as a whole, with words.
    if (isLast && (await version()) !== before) {
      throw unavailable('The lines were replaced during the export. Try again.')
    }
    yield rows
    if (isLast) return
  }
}
