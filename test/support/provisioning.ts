// Provisioning in tests: a run started over HTTP, its end, and what the simulated provider holds.
import assert from 'node:assert/strict'
import type { Droplet } from '../../sandbox/world/kinds.ts'
import { eventually } from './eventually.ts'
import type { Bundle } from './setup.ts'

export const SIZE = 's-1vcpu-1gb'
export const IMAGE = 'ubuntu-24-04-x64'

export interface Run {
  id: string
  kind: string
  status: string
  inputs: Record<string, unknown>
  context: Record<string, unknown>
  current_step_index: number
  error: { step_idx: number; step: string; reason: string } | null
  steps: {
    step_idx: number
    name: string
    status: string
    attempts: number
    output: unknown
    error: string
  }[]
}

export async function provision({ call }: Bundle, deploymentId: string, fields: object = {}): Promise<Run> {
  const body = { size: SIZE, image: IMAGE, ...fields }
  const {
    status,
    text,
    body: answer,
  } = await call('POST', `/api/v1/deployments/${deploymentId}/provision`, { body })
  assert.equal(status, 202, text)
  return answer.data
}

export async function deprovision({ call }: Bundle, deploymentId: string): Promise<Run> {
  const { status, text, body } = await call('POST', `/api/v1/deployments/${deploymentId}/deprovision`)
  assert.equal(status, 202, text)
  return body.data
}

async function shown({ call }: Bundle, id: string): Promise<Run> {
  return (await call('GET', `/api/v1/sagas/${id}`)).body.data
}

const ENDS = ['completed', 'rolled_back', 'failed']

/** The run once it has ended. */
export function ended(bundle: Bundle, { id }: { id: string }): Promise<Run> {
  return until(bundle, id, run => ENDS.includes(run.status))
}

/** The run once it is as wanted. */
export function until(bundle: Bundle, id: string, wanted: (run: Run) => boolean): Promise<Run> {
  return eventually(`the run ${id} is as wanted`, async () => {
    const run = await shown(bundle, id)
    return wanted(run) && run
  })
}

/** Names and ends of its steps, in order. */
export const ledger = ({ steps }: Run) => steps.map(({ name, status }) => `${name} ${status}`)

/** The simulated provider's droplets that carry the tag, GPU ones included. */
export function dropletsWith({ sandbox }: Bundle, tag: string): Droplet[] {
  const { droplet, gpu_droplet } = sandbox.world.shelves
  return [...droplet, ...gpu_droplet].filter(({ tags }) => tags.includes(tag))
}

export const dropletsOf = (bundle: Bundle, run: { id: string }) => dropletsWith(bundle, `saga:${run.id}`)

/** How often a droplet of the run was ordered. */
export const ordersOf = ({ sandbox }: Bundle, run: { id: string }) =>
  sandbox.world.ordered.filter(({ tags }) => tags.includes(`saga:${run.id}`)).length

/** A droplet that somebody made at the provider. */
export async function sandboxDroplet({ sandbox, ctx }: Bundle, fields: object): Promise<{ id: number }> {
  const { DIGITALOCEAN_API_URL: url } = ctx.config
  const answer = await fetch(`${url}/__sandbox/resources/droplet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'active', ...fields }),
  })
  assert.equal(answer.status, 201, sandbox.clock.now().toISOString())
  return answer.json() as Promise<{ id: number }>
}
