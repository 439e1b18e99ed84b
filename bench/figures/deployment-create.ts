// What it costs to create a deployment through the whole service, beside hand-written SQL in a bare route.
import { measureDeployments, PEER, type Requests } from '../deployments.ts'
import type { Figure } from '../figure.ts'

const requests: Requests = tenant => {
  let made = 0
  return () => ({
    method: 'POST',
    path: '/api/v1/deployments',
    body: JSON.stringify({ tenant_id: tenant, slug: `new-${++made}` }),
  })
}

export default {
  name: 'deployment-create',
  measures:
    '`POST /api/v1/deployments` through the service: JWT, validation, idempotency hooks, unique slug.',
  peer: PEER,
  unit: 'requests/s',
  bar: { atLeast: 0.7 },
  measure: bench => measureDeployments(bench, requests),
} satisfies Figure
