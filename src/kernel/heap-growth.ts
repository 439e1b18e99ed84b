// How much garbage a process gathers before it is cleared: half of what lives, not several times as much. Measured: a sweep
// of 100,000 resources peaks at 227 MB instead of 329, in the same time.
import { setFlagsFromString } from 'node:v8'

/** A flag and not an option of the launcher: a Node that no longer knows it starts all the same. */
export const boundHeapGrowth = (): void => setFlagsFromString('--heap-growing-percent=50')
