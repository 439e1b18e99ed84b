// Steps of several runs that end at about the same moment are written together: while one statement is under way the next
// ones gather. A busy process makes fewer round trips and commits, and a run that is alone waits for nobody. It is only
// the shorter way: what it does not write (a row that somebody holds, a run that was lost, a value the database refuses) is
// left to the step's own statement, which alone says what became of it.
import { problemOfDatabaseError, sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { type CompletedStep, type Completing, completeFreeSteps } from './complete-repository.ts'
import { type Hold, statementsOn, type Written } from './drive-repository.ts'

/** Undefined when the step was not written this way; rejects when nobody knows whether it was. */
export type StepWriter = (hold: Hold, step: CompletedStep) => Promise<Written | undefined>

interface Gathered extends Completing {
  settled: PromiseWithResolvers<Written | undefined>
}

export function createStepWriter(db: Executor): StepWriter {
  let gathered: Gathered[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    while (gathered.length > 0) {
      const batch = gathered
      gathered = []
      try {
        const rows = await completeFreeSteps(statementsOn(db), batch)
        const written = new Map(rows.map(row => [row.id, row]))
        for (const { hold, settled } of batch) settled.resolve(written.get(hold.id))
      } catch (error) {
        for (const { settled } of batch)
          if (wasRefused(error)) settled.resolve(undefined)
          else settled.reject(error)
      }
    }
    writing = false
  }

  return (hold, step) => {
    const settled = Promise.withResolvers<Written | undefined>()
    gathered.push({ hold, step, settled })
    if (!writing) {
      writing = true
      // Runs that go on in the same turn are in the same statement.
      queueMicrotask(writeAll)
    }
    return settled.promise
  }
}

/** The database has answered that it wrote nothing; a connection that broke tells nothing. */
const wasRefused = (error: unknown): boolean =>
  sqlState(error) !== undefined && problemOfDatabaseError(error)?.kind !== 'unavailable'
