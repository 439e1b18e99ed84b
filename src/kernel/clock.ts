// The time, as something that can be handed in: tests freeze it, the service reads the machine's.

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
