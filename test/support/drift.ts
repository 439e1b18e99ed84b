// Drift in tests: desired states over the API, and sweeps an hour apart.
import assert from 'node:assert/strict'
import { detectDrift, type Swept } from '../../src/features/drift/detect-drift.ts'
import { strikeUnseen } from '../../src/features/inventory/write-resources.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Bundle } from './setup.ts'
import { rowOf, type Shown, see, sightingOf } from './sweep.ts'

const HOUR = 3_600_000

/** A droplet as the provider shows it; its id. */
export async function droplet(bundle: Bundle, item: Shown): Promise<string> {
  await see(bundle, 'droplet', [item])
  return (await rowOf(bundle, 'droplet', item.provider_id)).id
}

/** As an operator says it; `raw` for what JSON.stringify would not write. */
export async function desire({ call }: Bundle, resourceId: string, spec: object, raw?: string) {
  const body =
    raw === undefined ? { body: { spec } } : { raw, headers: { 'content-type': 'application/json' } }
  const answer = await call('PUT', `/api/v1/inventory/${resourceId}/desired-state`, body)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

/** An hour later: one sweep. */
export function sweepDrift({ ctx, clock }: Bundle): Promise<Swept> {
  clock.advance(HOUR)
  return detectDrift(ctx, { id: newId(), signal: new AbortController().signal })
}

/** Three whole sweeps that see none of this kind. */
export async function loseAll(bundle: Bundle, kind: Kind): Promise<void> {
  for (let strike = 0; strike < 3; strike++) {
    bundle.clock.advance(HOUR)
    const sighting = await sightingOf(bundle, kind)
    await strikeUnseen(bundle.ctx.db, sighting, { sweep: sighting.look, hold: false })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: rows as the API shows them
export async function drifts({ call }: Bundle, query = ''): Promise<any[]> {
  const { status, body, text } = await call('GET', `/api/v1/drift${query}`)
  assert.equal(status, 200, text)
  return body.data
}

export const accept = ({ call }: Bundle, id: string) => call('POST', `/api/v1/drift/${id}/accept`)

/** What was told of a resource’s drift, oldest first: field → before and after. */
export async function toldOf({ call }: Bundle, resourceId: string): Promise<object[]> {
  const { body } = await call('GET', `/api/v1/inventory/${resourceId}/events?limit=500`)
  return body.data
    .filter(({ kind }: { kind: string }) => kind === 'drift_detected')
    .map(({ changes }: { changes: object }) => changes)
    .toReversed()
}
