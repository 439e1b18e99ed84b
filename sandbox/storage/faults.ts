// Decides which faults the simulated S3-compatible service can be asked for.

export type StorageFault = (
  | { fault: 'server_error'; status?: number }
  /** Never answers. */
  | { fault: 'stall' }
  /** Answers, but in one byte something else than what was put. */
  | { fault: 'wrong_bytes' }
  /** Says how long the object is, and ends before. */
  | { fault: 'cut' }
  | { fault: 'redirect' }
) & {
  /** Of which requests; all, unless said otherwise. */
  method?: string
  /** A part of their paths. */
  path?: string
}
