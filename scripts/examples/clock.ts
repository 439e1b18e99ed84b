// A tenant under a test clock: a month goes by in a moment. And a service in production, which has none.
import { eventually } from '../../test/support/eventually.ts'
import type { Teller } from './recorder.ts'

const base = '/api/v1/test-clocks'

export async function moveTime({ tell, call }: Teller): Promise<void> {
  const body = { tenant_id: 'initech', now: '2027-01-15T10:00:00Z' }
  const { body: made } = await tell(201, 'POST', base, { body })
  await tell('tenant_has_test_clock', 'POST', base, { body })
  const clock = `${base}/${made.data.id}`
  await tell(202, 'POST', `${clock}/advance`, { body: { months: 1 } })
  await eventually('the clock has arrived', async () => {
    return (await call('GET', clock)).body.data.status === 'ready'
  })
  await tell(200, 'GET', clock)
  await tell(200, 'GET', base)
  await tell(204, 'DELETE', clock)
}

export async function refuseTime({ tell }: Teller): Promise<void> {
  await tell('test_clocks_refused', 'POST', base, { body: { tenant_id: 'initech' } })
}
