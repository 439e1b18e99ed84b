// What both sides of the saga figure are asked: so many runs of five steps, so many at once.

export const STEPS = 5

export interface Batch {
  runs: number
  atOnce: number
}

export interface Stepped {
  ms: number
  /** All steps in the ledger so far, of this batch and those before. */
  recorded: number
}

/** Runs so many, each started when another has ended. */
export async function inFlight(runs: number, atOnce: number, once: () => Promise<void>): Promise<void> {
  let left = runs
  const lane = async () => {
    while (left-- > 0) await once()
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
