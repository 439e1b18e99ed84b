// Answers that a healthy service does not give: a bug, a lost race, a slow statement, a full disk, no provider, too many
// requests.
import type { FastifyInstance } from 'fastify'
import type { Teller } from './recorder.ts'

const config = { guard: 'caller' } as const

export const breakIt = {
  routes(app: FastifyInstance): void {
    app.get('/api/v1/bug', { config }, async () => {
      throw new Error('a bug')
    })
    app.get('/api/v1/race', { config }, async () => {
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    })
    app.get('/api/v1/slow', { config }, async () => {
      throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
    })
    app.get('/api/v1/full', { config }, async () => {
      throw Object.assign(new Error('could not extend file'), { code: '53100' })
    })
  },

  async walk({ tell, call }: Teller): Promise<void> {
    await tell('internal', 'GET', '/api/v1/bug')
    await tell('conflict', 'GET', '/api/v1/race')
    await tell('query_timeout', 'GET', '/api/v1/slow')
    await tell('database_cannot_write', 'GET', '/api/v1/full')
    const { body } = await call('POST', '/api/v1/deployments', { body: { tenant_id: 'acme', slug: 'shop' } })
    const path = `/api/v1/deployments/${body.data.id}/provision`
    await tell('unavailable', 'POST', path, { body: { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' } })
  },
}

export async function overrun({ tell, call }: Teller): Promise<void> {
  await call('GET', '/api/v1/deployments')
  await tell('rate_limited', 'GET', '/api/v1/deployments')
}
