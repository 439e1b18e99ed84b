// The states of a run and the moves between them. Pure. The repositories' statements name the state they leave; a test
// holds them to this map.

export const RUN_STATUSES = [
  'pending',
  'running',
  'completed',
  'failed',
  'compensating',
  'rolled_back',
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const STEP_STATUSES = ['running', 'completed', 'failed', 'compensated'] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

/** `failed` is for what cannot be driven to an end: a step this version does not know, a compensation that kills. */
export const RUN_MOVES = {
  pending: ['running'],
  running: ['completed', 'compensating', 'failed'],
  compensating: ['rolled_back', 'failed'],
  completed: [],
  failed: [],
  rolled_back: [],
} as const satisfies Record<RunStatus, readonly RunStatus[]>

export const hasEnded = (status: RunStatus): boolean => RUN_MOVES[status].length === 0
