// A command carried out by the service: at the provider, by a job, or as a request of its caller.
import {
  assignment,
  deploymentOrNone,
  HOLD_REASON,
  knownThings,
  laterBy,
  NAMES,
  nth,
  openDrifts,
  planOf,
  specOf,
  wordsOf,
} from './choices.ts'
import type { Command } from './commands.ts'
import { METER, type Reply, type Service } from './service.ts'
import { descriptionOf } from './shown.ts'
import { toldAt } from './statements.ts'
import { GRANTS, iso, PROJECTS, ROLES, TENANTS, type Thing, type World } from './world.ts'

const HOUR = 3_600_000

/** `world` is as before the command; `ids` says which id each symbol stands for. */
export async function perform(
  service: Service,
  world: World,
  command: Command,
  ids: ReadonlyMap<string, string>,
): Promise<Reply | undefined> {
  const { account } = service
  const thing = (index: number): Thing => nth(world.things, index)
  const item = (index: number) => account.items.get(thing(index).provider_id)!
  const idOf = (symbol: string) => ids.get(symbol)!
  const words = (tags: Parameters<typeof wordsOf>[1]) => wordsOf(world, tags).map(tag => withIds(tag, ids))
  const as = (by: number) => nth(world.callers, by)
  const deployment = (index: number) => nth(world.deployments, index)
  const now = laterBy(world, command)
  if (command.do !== 'sweep') service.clock.set(now)

  switch (command.do) {
    case 'make': {
      const number = world.things.length + 1
      const provider_id = command.kind === 'droplet' ? String(9000 + number) : `vol-${number}`
      account.items.set(provider_id, {
        kind: command.kind,
        provider_id,
        name: nth(NAMES, command.name),
        tags: words(command.tags),
        size: 's-1',
        project: nth(PROJECTS, command.project),
      })
      return
    }
    case 'rename':
      item(command.thing).name = nth(NAMES, command.name)
      return
    case 'retag':
      item(command.thing).tags = words(command.tags)
      return
    case 'resize':
      item(command.thing).size = item(command.thing).size === 's-1' ? 's-2' : 's-1'
      return
    case 'remove':
      account.items.delete(thing(command.thing).provider_id)
      return
    case 'return': {
      const { kind, provider_id, real } = thing(command.thing)
      const tags = real.tags.map(tag => withIds(tag, ids))
      account.items.set(provider_id, { kind, provider_id, ...real, tags })
      return
    }
    case 'move':
      item(command.thing).project = nth(PROJECTS, command.project)
      return
    case 'sweep':
      for (let turn = 1; turn <= command.times; turn++) {
        service.clock.set(world.now + turn * HOUR)
        if (command.projectsFirst) await service.sweepProjects()
        await service.sweepKind('droplet')
        await service.sweepKind('volume')
        if (!command.projectsFirst) await service.sweepProjects()
      }
      return
    case 'sweep projects':
      await service.sweepProjects()
      return
    case 'sweep kind':
      await service.sweepKind(command.kind)
      return
    case 'refresh': {
      const { kind, provider_id } = thing(command.thing)
      await service.refresh(kind, provider_id)
      return
    }
    case 'detect drift':
      await service.detectDrift()
      return
    case 'next month':
      return
    case 'meter':
      await service.meter()
      return
    case 'close months':
      await service.closeMonths()
      return
    case 'ingest': {
      const lines = command.lines.map(({ thing: index, hoursAgo }, place) => {
        const { kind, row, real } = thing(index)
        const until = now - hoursAgo * HOUR
        const description = descriptionOf({ kind, name: row?.name ?? real.name })
        const product = kind === 'droplet' ? 'Droplets' : 'Volumes'
        return [
          product,
          description,
          '1',
          iso(until - HOUR),
          iso(until),
          `${place + 1}.50`,
          'a project',
          'iaas',
        ]
      })
      const header = ['product', 'description', 'hours', 'start', 'end', 'USD', 'project_name', 'category']
      const csv = [header, ...lines].map(fields => fields.join(',')).join('\n')
      await service.ingest(`invoice-${world.invoices.length + 1}`, csv)
      return
    }
    case 'permit':
      await service.call('admin', 'PATCH', `/admin/roles/${nth(Object.keys(ROLES), command.role)}`, {
        permissions: GRANTS[command.grant],
      })
      return
    case 'suspend': {
      const { sub } = as(command.caller)
      const status = command.on ? 'suspended' : 'active'
      await service.call('admin', 'PATCH', `/admin/users/${sub}`, { status })
      return
    }
    case 'assign project': {
      const project = nth(world.projects, command.project)
      return service.call(as(command.by).name, 'PATCH', `/projects/${idOf(project.id)}`, assignment(command))
    }
    case 'assign resource': {
      const known = nth(knownThings(world), command.thing)
      const chosen = deploymentOrNone(world, command.deployment)
      const deployment_id = chosen && idOf(chosen.id)
      return service.call(as(command.by).name, 'PATCH', `/inventory/${idOf(known.id)}`, { deployment_id })
    }
    case 'create deployment': {
      const slug = `d${world.deployments.length + 1}`
      const body = { slug, tenant_id: nth(TENANTS, command.tenant) }
      return service.call(as(command.by).name, 'POST', '/deployments', body)
    }
    case 'transition': {
      const path = `/deployments/${idOf(deployment(command.deployment).id)}/transition`
      return service.call(as(command.by).name, 'POST', path, { state: command.to })
    }
    case 'hold billing': {
      const path = `/deployments/${idOf(deployment(command.deployment).id)}`
      return service.call(as(command.by).name, 'PATCH', path, {
        billing_action_suspended: command.on,
        ...(command.on && { billing_action_suspended_reason: HOLD_REASON }),
      })
    }
    case 'subscribe':
    case 'change plan': {
      const verb = command.do === 'subscribe' ? 'subscribe' : 'change-plan-version'
      const path = `/deployments/${idOf(deployment(command.deployment).id)}/${verb}`
      return service.call(as(command.by).name, 'POST', path, { plan_code: planOf(command.plan) })
    }
    case 'tell usage': {
      const time = iso(toldAt(now, command.ago))
      return service.call(as(command.by).name, 'POST', '/usage-events', {
        ...{ specversion: '1.0', id: iso(now), source: 'histories', type: METER, time },
        ...{ subject: idOf(deployment(command.deployment).id), data: { value: command.units } },
      })
    }
    case 'desire': {
      const known = nth(knownThings(world), command.thing)
      const path = `/inventory/${idOf(known.id)}/desired-state`
      const spec = JSON.parse(withIds(JSON.stringify(specOf(known, command.spec)), ids))
      return service.call(as(command.by).name, 'PUT', path, { spec })
    }
    case 'accept drift': {
      const { drift } = nth(openDrifts(world), command.drift)
      return service.call(as(command.by).name, 'POST', `/drift/${idOf(drift.id)}/accept`)
    }
    case 'deprovision': {
      const path = `/deployments/${idOf(deployment(command.deployment).id)}/deprovision`
      const reply = await service.call(as(command.by).name, 'POST', path)
      if (reply.status === 202) await service.drive(JSON.parse(reply.text).data.id)
      return reply
    }
    case 'make key': {
      const { name, sub } = as(command.by)
      const reply = await service.call(name, 'POST', `/users/${sub}/api_keys`, {})
      if (reply.status === 201)
        service.authenticate(`${name}’s key ${world.callers.length}`, JSON.parse(reply.text).data.api_key)
      return reply
    }
  }
}

const withIds = (tag: string, ids: ReadonlyMap<string, string>): string =>
  tag.replace(/D:\w+/, symbol => ids.get(symbol)!)
