// What it costs to move a deployment through the whole service, beside hand-written SQL in a bare route.
import { measureDeployments, PEER, type Requests } from '../deployments.ts'
import type { Figure } from '../figure.ts'

const requests: Requests = (_tenant, ids) => {
  let moved = 0
  return () => {
    const at = moved++
    // Every deployment in turn, to and fro: none is moved again before its last move is done.
    const state = Math.floor(at / ids.length) % 2 === 0 ? 'paused' : 'active'
    return {
      method: 'POST',
      path: `/api/v1/deployments/${ids[at % ids.length]}/transition`,
      body: JSON.stringify({ state }),
    }
  }
}

export default {
  name: 'deployment-transition',
  measures:
    '`POST /api/v1/deployments/:id/transition` through the service: the guarded move, its event and the subscription’s follow-up.',
  peer: PEER,
  unit: 'requests/s',
  bar: { atLeast: 0.7 },
  measure: bench => measureDeployments(bench, requests),
} satisfies Figure
