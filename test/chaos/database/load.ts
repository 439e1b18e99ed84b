// Clients that tell one story after the other, until the campaign ends.
import { setTimeout as pause } from 'node:timers/promises'
import { randomFrom } from '../random.ts'
import { type Client, StoryOver } from './client.ts'
import { administering } from './stories-administering.ts'
import { running } from './stories-running.ts'
import { selling } from './stories-selling.ts'
import type { Story, Teller, World } from './story.ts'

const STORIES: Story[] = Object.values({ ...selling, ...running, ...administering })
const TOTAL = STORIES.reduce((sum, { weight }) => sum + weight, 0)

export interface Load {
  /** Nothing new is begun; what was sent is still sent again until it is answered. */
  finish(): void
  finished: Promise<unknown>
  /** Stories that met an answer they cannot read. */
  broken: string[]
}

export interface LoadOptions {
  seed: number
  /** Stories that are told at the same time. */
  clients: number
  /** The longest pause of a client between two stories. */
  paceMs: number
}

export function startLoad(client: Client, world: World, { seed, clients, paceMs }: LoadOptions): Load {
  const broken: string[] = []
  const held = new Set<string>()
  let [over, names] = [false, 0]
  const goOn = () => {
    if (over) throw new StoryOver('the campaign ends')
  }
  const tellerWith = (random: () => number): Teller => ({
    async send(...request) {
      goOn()
      return client.send(...request)
    },
    async get(path) {
      goOn()
      return client.get(path)
    },
    random,
    world,
    name: prefix => `${prefix}-${++names}`,
    async alone(what, work) {
      if (held.has(what)) return null
      held.add(what)
      const result = await work()
      // Not after a failure: nobody knows in which state it is.
      held.delete(what)
      return result
    },
  })
  const tell = async (random: () => number) => {
    const teller = tellerWith(random)
    while (!over) {
      await pause(random() * paceMs)
      await chosen(random)
        .tell(teller)
        .catch((error: Error) => {
          if (!(error instanceof StoryOver)) broken.push(error.stack ?? error.message)
        })
    }
  }
  return {
    finish: () => {
      over = true
    },
    finished: Promise.all(Array.from({ length: clients }, (_, n) => tell(randomFrom(seed + 2 + n)))),
    broken,
  }
}

function chosen(random: () => number): Story {
  let place = random() * TOTAL
  return STORIES.find(({ weight }) => {
    place -= weight
    return place < 0
  })!
}
