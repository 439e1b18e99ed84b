// What a test, or the tests of a suite, took, and gives back.

/** A test's context, or node:test itself for what the tests of a suite share. */
export interface Owner {
  after(end: () => unknown): void
}

/** Ends in the reverse order of what was taken, once the owner is done; also when setting up fails half-way. */
export function lasting(owner: Owner): Owner {
  const ends: (() => unknown)[] = []
  owner.after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return { after: end => void ends.push(end) }
}
