// Provisioning in tests: a run started over HTTP, its end, and what the simulated provider holds.
import assert from 'node:assert/strict'
import type { Droplet } from '../../sandbox/world/kinds.ts'
import type { ShownRun } from './sagas.ts'
import type { Bundle } from './setup.ts'

export const SIZE = 's-1vcpu-1gb'
export const IMAGE = 'ubuntu-24-04-x64'

export async function provision(
  { call }: Bundle,
  deploymentId: string,
  fields: object = {},
): Promise<ShownRun> {
  const body = { size: SIZE, image: IMAGE, ...fields }
  const {
    status,
    text,
    body: answer,
  } = await call('POST', `/api/v1/deployments/${deploymentId}/provision`, { body })
  assert.equal(status, 202, text)
  return answer.data
}

export async function deprovision({ call }: Bundle, deploymentId: string): Promise<ShownRun> {
  const { status, text, body } = await call('POST', `/api/v1/deployments/${deploymentId}/deprovision`)
  assert.equal(status, 202, text)
  return body.data
}

/** Names and ends of its steps, in order. */
export const ledger = ({ steps }: ShownRun) => steps.map(({ name, status }) => `${name} ${status}`)

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
