// What is wrong with an invoice's file, and where. Downloading it again gives the same file, so a job that meets this is
// not tried again at once.

export interface Place {
  /** As an editor counts lines, from 1. */
  line: number
  column?: string
}

export class InvoiceFileError extends Error {
  override readonly name = 'InvoiceFileError'

  constructor(problem: string, place?: Place) {
    super(place ? `${inWords(place)}: ${problem}` : problem)
  }
}

const inWords = ({ line, column }: Place) => `line ${line}${column === undefined ? '' : `, column ${column}`}`

const LONGEST_SHOWN = 60

/** A value of the file, fit to be shown in an error. */
export const shown = (value: string): string =>
  JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value)
