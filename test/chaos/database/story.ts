// What stories are told with.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Json } from './client.ts'

export interface Teller extends Pick<Client, 'send' | 'get'> {
  random: () => number
  /** A name nothing else has. */
  name(prefix: string): string
  /** Takes turns with other stories about something there is one of; `null` when another has it. */
  alone<T>(what: string, work: () => Promise<T>): Promise<T | null>
  /** What the campaign prepared before the faults began. */
  world: World
}

export interface World {
  hook: string
  plans: string[]
  projects: string[]
  /** Resources that no saga made. */
  resources: string[]
  invoices: string[]
  costLines: string[]
}

export interface Story {
  /** How often it is told, against the others. */
  weight: number
  tell(teller: Teller): Promise<void>
}

/** Asks again and again; StoryOver comes out of `get` when the campaign ends. */
export async function until(ask: () => Promise<Json>, everyMs = 300): Promise<Json> {
  for (;;) {
    const found = await ask()
    if (found) return found
    await pause(everyMs)
  }
}
