// Decides how images and snapshots are listed. A droplet's snapshot is both at once, under one number:
// deleting either deletes the other.
import type { FastifyInstance } from 'fastify'
import { publicImages } from '../world/catalogue.ts'
import type { Image } from '../world/official.ts'
import { removeResource } from '../world/world.ts'
import { findImage } from './droplets.ts'
import { ProviderError, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import { type Pageable, pageable } from './paging.ts'
import type { Provider } from './server.ts'

export function imageRoutes(app: FastifyInstance, provider: Provider): void {
  const { world } = provider
  const { image, snapshot } = world.shelves
  // Public images first, then the account's own; never copied into one list, which may be long.
  const all: Pageable<Image> = {
    get size() {
      return publicImages.length + image.size
    },
    slice(offset, limit) {
      const shown = publicImages.slice(offset, offset + limit)
      return [...shown, ...image.slice(Math.max(0, offset - publicImages.length), limit - shown.length)]
    },
  }

  familyRoutes(app, provider, {
    kind: 'image',
    path: '/v2/images',
    one: 'image',
    many: 'images',
    find: id => findImage(world, id),
    select({ private: own, type, tag_name: tag }) {
      if (tag !== undefined) return pageable(image.filter(item => item.tags?.includes(tag) ?? false))
      if (type === 'distribution') return pageable(publicImages)
      if (type === 'application') return pageable([])
      if (type !== undefined) throw unprocessable('type is invalid.')
      return own === 'true' ? image : all
    },
    beforeDelete(item) {
      if (item.public) throw new ProviderError(403, 'You do not have access for the attempted action.')
      removeResource(world, 'snapshot', String(item.id))
    },
  })

  familyRoutes(app, provider, {
    kind: 'snapshot',
    path: '/v2/snapshots',
    one: 'snapshot',
    many: 'snapshots',
    select({ resource_type: type }) {
      if (type === undefined) return snapshot
      return pageable(snapshot.filter(item => item.resource_type === type))
    },
    beforeDelete(item) {
      if (item.resource_type === 'droplet') removeResource(world, 'image', item.id)
    },
  })
}
