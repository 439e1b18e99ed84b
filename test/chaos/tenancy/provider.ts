// The provider's account in this process: droplets and volumes in projects. It answers what the sweeps and the
// deprovisioning ask, without sockets, and is changed from outside as people change things in the provider's console.
import type { Fetch } from '../../../src/integrations/digitalocean/index.ts'

export type Kind = 'droplet' | 'volume'

export interface Item {
  kind: Kind
  provider_id: string
  name: string
  tags: string[]
  size: string
  project: string
}

export interface Account {
  fetch: Fetch
  /** By their provider ids. */
  items: Map<string, Item>
  projects: { id: string; name: string; is_default: boolean }[]
}

export function createAccount(): Account {
  const items: Account['items'] = new Map()
  const projects: Account['projects'] = []

  const fetch: Fetch = async (address, { method }) => {
    const { pathname, searchParams } = new URL(address)
    const [, , family = '', id, part] = pathname.split('/')
    if (method === 'DELETE' && family === 'droplets') return items.delete(id!) ? answer(204, null) : missing()
    if (method !== 'GET') return answer(405, { id: 'not_simulated', message: `${method} ${pathname}` })
    if (family === 'projects') {
      if (id === undefined) return page('projects', projects)
      if (id === 'default') return answer(200, { project: projects.find(({ is_default }) => is_default) })
      const held = [...items.values()].filter(({ project }) => project === id)
      if (part === 'resources') return page('resources', held.map(urnOf))
      const project = projects.find(one => one.id === id)
      return project ? answer(200, { project }) : missing()
    }
    const kind = family === 'droplets' ? 'droplet' : 'volume'
    if (id !== undefined) {
      const item = items.get(id)
      return item?.kind === kind ? answer(200, { [kind]: raw(item) }) : missing()
    }
    const tag = searchParams.get('tag_name')
    const listed = [...items.values()].filter(
      item =>
        item.kind === kind &&
        searchParams.get('type') !== 'gpus' &&
        (tag === null || item.tags.includes(tag)),
    )
    return page(family, listed.map(raw))
  }
  return { fetch, items, projects }
}

const urnOf = ({ kind, provider_id }: Item) => ({ urn: `do:${kind}:${provider_id}`, status: 'ok' })

function raw({ kind, provider_id, name, tags, size }: Item): object {
  return kind === 'droplet'
    ? { id: Number(provider_id), name, region: { slug: 'nyc3' }, status: 'active', tags, size_slug: size }
    : {
        ...{ id: provider_id, name, region: { slug: 'nyc3' }, tags, size_slug: size },
        droplet_ids: attachedTo(provider_id),
      }
}

/** A volume is attached to what was made right before and right after it, whoever's that is, if it is a droplet. */
export const attachedTo = (volume: string): number[] =>
  [-1, 1].map(step => 9000 + Number(volume.slice('vol-'.length)) + step)

const page = (key: string, list: readonly object[]) =>
  answer(200, { [key]: list, links: {}, meta: { total: list.length } })

const missing = () => answer(404, { id: 'not_found', message: 'The resource could not be found.' })

const answer = (status: number, body: object | null) => ({
  status,
  headers: new Headers({ 'content-type': 'application/json' }),
  body: body === null ? null : new Response(JSON.stringify(body)).body,
})
