// Decides how the simulated world is changed from outside: things appear, change and vanish behind the
// service's back, and faults are planned. These paths need no token and exist in the sandbox alone.
import type { FastifyInstance } from 'fastify'
import type { Collection } from '../world/collection.ts'
import { isKind, KINDS, type Kind, kindNames, urnOf } from '../world/kinds.ts'
import {
  addResource,
  destroyDroplet,
  findDroplet,
  freshId,
  noteTags,
  projectOf,
  removeResource,
  shelfOf,
  type World,
} from '../world/world.ts'
import { requireProject } from './account.ts'
import type { ProviderContext } from './endpoints.ts'
import { readFault } from './faults.ts'
import { Body, conflict, notFound, unprocessable } from './protocol.ts'

type WithId = { Params: { kind: string; id: string } }

/** RFC 7396: null takes a member away, an object is merged, anything else replaces. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {}
  const result: Record<string, unknown> = { ...base }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merged(Object.hasOwn(result, name) ? result[name] : undefined, value)
  }
  return result
}

export function controlRoutes(
  app: FastifyInstance,
  { world, clock, faults, requests }: ProviderContext,
): void {
  const kindOf = (word: string): Kind => {
    if (!isKind(word)) throw unprocessable(`no kind ${word}; there are ${kindNames.join(', ')}`)
    return word
  }
  const find = (word: string, id: string): { kind: Kind; item: object; shelf: Collection<object> } => {
    const asked = kindOf(word)
    const kind = asked === 'droplet' ? (findDroplet(world, id)?.kind ?? asked) : asked
    const shelf = shelfOf(world, kind)
    const item = shelf.get(id)
    if (item === undefined) throw notFound()
    return { kind, item, shelf }
  }

  app.get('/__sandbox/state', async () => ({
    simulated: true,
    now: clock.now().toISOString(),
    resources: Object.fromEntries(kindNames.map(kind => [kind, world.shelves[kind].size])),
    projects: [...world.projects].map(({ id, name, is_default }) => ({
      id,
      name,
      is_default,
      resources: world.projectResources.get(id)?.size ?? 0,
    })),
    actions_in_progress: world.actions.filter(action => action.status === 'in-progress').length,
    invoices: world.billing.invoices(clock.now()).map(({ uuid, period }) => ({ uuid, period })),
    faults: faults.list(),
    // Somebody may have sent a real token here by mistake.
    requests: requests.slice(-50).map(({ token, ...request }) => ({ ...request, token: lastOf(token) })),
  }))

  app.get<WithId>('/__sandbox/resources/:kind', async request => {
    const kind = kindOf(request.params.kind)
    return { total: world.shelves[kind].size, [kind]: world.shelves[kind].slice(0, 1000) }
  })

  // With its project, so that what was deleted can be put back where it was.
  app.get<WithId>('/__sandbox/resources/:kind/:id', async request => {
    const { kind, item } = find(request.params.kind, request.params.id)
    const urn = urnOf(kind, request.params.id)
    const project_id = urn === undefined ? undefined : projectOf(world, urn)
    return project_id === undefined ? item : { ...item, project_id }
  })

  // Made after the first of its kind, so that a name alone is enough: {"name": "surprise-01"}.
  app.post<WithId>('/__sandbox/resources/:kind', async (request, reply) => {
    const kind = kindOf(request.params.kind)
    const { project_id: projectId, ...fields } = new Body(request).fields
    const project = requireProject(world, typeof projectId === 'string' ? projectId : undefined)
    const template = shelfOf(world, kind).at(0) ?? {}
    const made = merged({ ...template, [KINDS[kind].idField]: freshId(world, kind) }, fields) as Record<
      string,
      unknown
    >
    const id = String(made[KINDS[kind].idField])
    if (shelfOf(world, kind).get(id) !== undefined) throw conflict(`${kind} ${id} exists already`)
    addAny(world, kind, made, { now: clock.now(), ...(project ? { projectId: project.id } : {}) })
    reply.code(201)
    return shelfOf(world, kind).get(id)
  })

  app.patch<WithId>('/__sandbox/resources/:kind/:id', async request => {
    const { kind, item, shelf } = find(request.params.kind, request.params.id)
    const { [KINDS[kind].idField]: _id, ...patch } = new Body(request).fields
    const changed = merged(item, patch) as object
    noteTags(world, changed)
    return shelf.replace(changed)
  })

  app.delete<WithId>('/__sandbox/resources/:kind/:id', async (request, reply) => {
    const { kind } = find(request.params.kind, request.params.id)
    if (kind === 'droplet' || kind === 'gpu_droplet') destroyDroplet(world, kind, Number(request.params.id))
    else removeResource(world, kind, request.params.id)
    return reply.code(204).send()
  })

  app.get('/__sandbox/ordered', async () => ({ droplets: world.ordered }))

  app.get('/__sandbox/faults', async () => ({ faults: faults.list() }))

  app.post('/__sandbox/faults', async (request, reply) => {
    const fault = readFault(request.body)
    if (typeof fault === 'string') throw unprocessable(fault)
    reply.code(201)
    return { id: faults.add(fault), ...fault }
  })

  app.delete('/__sandbox/faults', async (_request, reply) => {
    faults.clear()
    return reply.code(204).send()
  })
}

const lastOf = (token = '') => (token.length > 8 ? `…${token.slice(-4)}` : '…')

const addAny = addResource as (
  world: World,
  kind: Kind,
  item: object,
  where: { projectId?: string; now: Date },
) => unknown
