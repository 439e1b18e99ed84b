// A droplet that nobody keeps is found, snoozed, and closed when somebody keeps it.
import { runTask } from '../../test/support/billing.ts'
import { sweepAll } from '../../test/support/sweep.ts'
import type { Teller } from './recorder.ts'

export async function find(told: Teller): Promise<void> {
  const { tell, call, clock, ctx } = told
  const droplets = `${ctx.config.DIGITALOCEAN_API_URL}/__sandbox/resources/droplet`
  await fetch(droplets, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'forgotten', tags: ['saga:01980000-0000-7000-8000-000000000001'] }),
  })
  await sweepAll(told)
  await runTask(told, 'findings')
  const base = '/api/v1/findings'
  await tell(200, 'GET', `${base}?limit=5`)
  await tell(200, 'GET', `${base}/summary`)
  await tell(200, 'GET', `${base}/checks`)
  const { body } = await call('GET', `${base}?check=saga_leak`)
  const { id, resource } = body.data[0]
  const path = `${base}/${id}`
  await tell(200, 'GET', path)
  const until = new Date(clock.now().getTime() + 14 * 86_400_000).toISOString()
  const snooze = { body: { reason: 'Somebody still copies its data.', until } }
  await tell(200, 'POST', `${path}/snooze`, snooze)
  await tell(204, 'DELETE', `${path}/snooze`)
  await call('PUT', `/api/v1/inventory/${resource.id}/desired-state`, {
    body: { spec: { name: 'forgotten' } },
  })
  await runTask(told, 'findings')
  await tell('finding_closed', 'POST', `${path}/snooze`, snooze)
}
