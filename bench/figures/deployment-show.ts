// What it costs to show a deployment through the whole service, beside hand-written SQL in a bare route.
import { measureDeployments, PEER, type Requests } from '../deployments.ts'
import type { Figure } from '../figure.ts'

const requests: Requests = (_tenant, ids) => {
  let shown = 0
  return () => ({ method: 'GET', path: `/api/v1/deployments/${ids[shown++ % ids.length]}` })
}

export default {
  name: 'deployment-show',
  measures:
    '`GET /api/v1/deployments/:id` through the service: the deployment, its allowed moves, subscription and events.',
  peer: PEER,
  unit: 'requests/s',
  bar: { atLeast: 0.7 },
  measure: bench => measureDeployments(bench, requests),
} satisfies Figure
