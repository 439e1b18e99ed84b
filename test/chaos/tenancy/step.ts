// One command's effect on the model, and what whoever sent it is answered.
import { HOUR, laterBy, MINUTE, NAMES, nth, nthThing, wordsOf } from './choices.ts'
import type { Command } from './commands.ts'
import { detectDrift, see, sweepKind, sweepProjects } from './inventory-steps.ts'
import { matchLine } from './lines.ts'
import { request } from './requests.ts'
import type { Answer } from './rules.ts'
import { closeMonths } from './statements.ts'
import { GRANTS, PROJECTS, ROLES, type World } from './world.ts'

/** Undefined: nobody asked, or the answer is not looked at. */
export function step(world: World, command: Command): Answer | undefined {
  if (command.do !== 'sweep') world.now = laterBy(world, command)
  switch (command.do) {
    case 'make':
      return make(world, command)
    case 'rename':
      nthThing(world, command.thing)!.real.name = nth(NAMES, command.name)
      return
    case 'retag':
      nthThing(world, command.thing)!.real.tags = wordsOf(world, command.tags)
      return
    case 'resize': {
      const { real } = nthThing(world, command.thing)!
      real.size = real.size === 's-1' ? 's-2' : 's-1'
      return
    }
    case 'remove':
      nthThing(world, command.thing)!.real.there = false
      return
    case 'return':
      nthThing(world, command.thing)!.real.there = true
      return
    case 'move':
      nthThing(world, command.thing)!.real.project = nth(PROJECTS, command.project)
      return
    case 'sweep':
      for (let turn = 0; turn < command.times; turn++) {
        world.now += HOUR
        if (command.projectsFirst) sweepProjects(world)
        sweepKind(world, 'droplet')
        sweepKind(world, 'volume')
        if (!command.projectsFirst) sweepProjects(world)
      }
      return
    case 'sweep projects':
      sweepProjects(world)
      return
    case 'sweep kind':
      sweepKind(world, command.kind)
      return
    case 'refresh': {
      const thing = nthThing(world, command.thing)!
      if (thing.real.there) see(world, thing, 'refresh')
      return
    }
    case 'detect drift':
      detectDrift(world)
      return
    case 'meter':
      meter(world)
      return
    case 'next month':
      return
    case 'close months':
      closeMonths(world)
      return
    case 'ingest':
      ingest(world, command.lines)
      return
    case 'permit':
      world.roles[nth(Object.keys(ROLES), command.role)] = GRANTS[command.grant]!
      return
    case 'suspend': {
      const { sub } = nth(world.callers, command.caller)
      if (command.on) world.suspended.add(sub)
      else world.suspended.delete(sub)
      return
    }
    default:
      return request(world, command, nth(world.callers, command.by))
  }
}

function make(world: World, { kind, project, name, tags }: Extract<Command, { do: 'make' }>): undefined {
  const number = world.things.length + 1
  const provider_id = kind === 'droplet' ? String(9000 + number) : `vol-${number}`
  world.things.push({
    id: `R:${provider_id}`,
    kind,
    provider_id,
    real: {
      there: true,
      name: nth(NAMES, name),
      tags: wordsOf(world, tags),
      size: 's-1',
      project: nth(PROJECTS, project),
    },
    listed: null,
    row: null,
    events: [],
    past: [],
    hands: [],
    ties: [],
    lives: [],
    desired: null,
    drifts: [],
  })
}

const SETTLED = 5 * MINUTE

function meter(world: World): void {
  const over = Math.floor((world.now - SETTLED) / HOUR) * HOUR
  world.meteredUntil = Math.max(over, world.meteredUntil ?? Number.NEGATIVE_INFINITY)
}

function ingest(world: World, lines: Extract<Command, { do: 'ingest' }>['lines']): void {
  const invoice = `invoice-${world.invoices.length + 1}`
  world.invoices.push(invoice)
  for (const [index, { thing, hoursAgo }] of lines.entries()) {
    const { kind, row, real } = nthThing(world, thing)!
    const until = world.now - hoursAgo * HOUR
    const name = row?.name ?? real.name
    const line_number = index + 2
    const owner = matchLine(world, { kind, name, from: until - HOUR, until })
    world.lines.push({
      id: `L:${invoice}:${line_number}`,
      invoice: `I:${invoice}`,
      line_number,
      kind,
      name,
      amount: `${index + 1}.50`,
      ...owner,
    })
  }
}
