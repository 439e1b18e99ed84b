// Decides what time it is inside the sandbox. Everything that takes time at the provider (a droplet
// booting, a rate-limit window) reads this clock, so a test moves time instead of sleeping.

export type SandboxClock = { now(): Date }

export type ManualClock = SandboxClock & {
  advance(milliseconds: number): void
  set(instant: Date | string): void
}

export const systemClock: SandboxClock = { now: () => new Date() }

export function manualClock(start: Date | string = '2026-09-15T12:00:00Z'): ManualClock {
  let instant = new Date(start).getTime()
  return {
    now: () => new Date(instant),
    advance(milliseconds) {
      instant += milliseconds
    },
    set(next) {
      instant = new Date(next).getTime()
    },
  }
}

/** The provider writes whole seconds: `2026-09-15T12:00:00Z`. */
export function wholeSeconds(instant: Date): string {
  return instant.toISOString().replace(/\.\d{3}Z$/, 'Z')
}
