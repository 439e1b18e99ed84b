// A provider that answers out of a generated world in the same process: neither the network nor the provider's pace is
// measured, and the time it takes to make a page is counted apart.
import { type GeneratedWorld, generated } from '../../sandbox/world/generated.ts'
import { defaultProject } from '../../sandbox/world/world.ts'
import type {
  ListingPage,
  PagedListing,
  Provider,
  RawItem,
} from '../../src/integrations/digitalocean/index.ts'

const PER_PAGE = 200

export interface GeneratedProvider {
  world: GeneratedWorld
  provider: Provider
  /** Milliseconds spent on making pages since it was last asked. */
  takeOwnTime(): number
}

export function generatedProvider(droplets: number): GeneratedProvider {
  const world = generated({ droplets })
  const shelf = world.shelves.droplet
  let ownTime = 0

  const pageAt = (offset: number): RawItem[] => {
    const began = performance.now()
    const items = shelf.slice(offset, PER_PAGE) as unknown as RawItem[]
    ownTime += performance.now() - began
    return items
  }

  function pages(): PagedListing {
    const count = Math.ceil(shelf.size / PER_PAGE)
    let read = 0
    async function* all(): AsyncGenerator<ListingPage> {
      while (read < count) yield { items: pageAt(PER_PAGE * read++), total: shelf.size }
    }
    const listing = all()
    return {
      [Symbol.asyncIterator]: () => listing,
      get verdict() {
        const complete = read === count
        return { complete, pages: read, total: shelf.size, reason: complete ? null : 'not read to its end' }
      },
    }
  }

  return {
    world,
    // The other calls are no part of a sweep of droplets.
    provider: {
      pages,
      getDefaultProject: async () => defaultProject(world) as unknown as RawItem,
    } as unknown as Provider,
    takeOwnTime() {
      const taken = ownTime
      ownTime = 0
      return taken
    },
  }
}
