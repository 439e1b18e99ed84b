// Reads CSV as RFC 4180 has it, in a few lines of its own: what is tested must not be read by what wrote it.

/** Rows of cells. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (let at = 0; at < text.length; ) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (text[at] !== '"') cell += text[at]
        else if (text[++at] === '"') cell += '"'
        else break
      }
    } else {
      const end = text.slice(at).search(/,|\r\n/)
      cell = text.slice(at, at + end)
      at += end
    }
    row.push(cell)
    if (text[at] === ',') {
      at++
      continue
    }
    at += 2
    rows.push(row)
    row = []
  }
  return rows
}

/** Rows as objects, by the header. */
export function csvObjects(text: string): Record<string, string>[] {
  const [header = [], ...rows] = parseCsv(text)
  return rows.map(row => Object.fromEntries(header.map((name, index) => [name, row[index]!])))
}
