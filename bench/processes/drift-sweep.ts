// A drift sweep of the service's own: its configuration, pool and log, and `detectDrift` as the task calls it.
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { detectDrift, type Swept } from '../../src/features/drift/detect-drift.ts'
import { boundHeapGrowth } from '../../src/kernel/heap-growth.ts'
import { newId } from '../../src/kernel/ids.ts'
import { peakBytes, workingLong } from '../process.ts'

export interface DriftSwept extends Swept {
  ms: number
  /** The most memory the process has held since it started. */
  peakBytes: number
}

const { config } = readConfig({ ...process.env })
const context = await createContext({ config, worker: false })

// As a process of the service does.
boundHeapGrowth()

workingLong<object, DriftSwept>(async () => {
  const began = performance.now()
  const swept = await detectDrift(context, { id: newId(), signal: new AbortController().signal })
  return { ...swept, ms: performance.now() - began, peakBytes: peakBytes() }
})
