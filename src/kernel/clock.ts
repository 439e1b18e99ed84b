// The time, as something that can be handed in: tests freeze it, a running process takes the database's
// (db/database-clock.ts).

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** What a process's time is made of: its machine's clock, and the time that only ever passes. Milliseconds both. */
export interface Machine {
  wall(): number
  elapsed(): number
}

export const thisMachine: Machine = { wall: () => Date.now(), elapsed: () => performance.now() }

let ofProcess: Clock = systemClock

/** From now on what is made without a clock at hand (ids) is dated by this one. */
export function dateIdsBy(clock: Clock): void {
  ofProcess = clock
}

/** Milliseconds since the epoch by the process's clock. */
export const processTime = (): number => ofProcess.now().getTime()
