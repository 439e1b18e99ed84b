// The states of a plan version and the moves between them. Drafts may also be deleted; that is no move.
export const VERSION_STATES = ['draft', 'active', 'retired'] as const
export type VersionState = (typeof VERSION_STATES)[number]

export const VERSION_MOVES = {
  draft: ['active'],
  active: ['retired'],
  retired: [],
} as const satisfies Record<VersionState, readonly VersionState[]>

export const mayMove = (from: VersionState, to: VersionState): boolean =>
  (VERSION_MOVES[from] as readonly VersionState[]).includes(to)

/** What a version costs and includes may be rewritten, or the version dropped, only before it is published. */
export const mayBeRewritten = (state: VersionState): boolean => state === 'draft'
