// What workers do: machines are made and taken down, invoices fetched and pushed, drift found and accepted, tasks run.
import { newDeployment } from './stories-selling.ts'
import { type Story, type Teller, until } from './story.ts'

const ORDER = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' }

const ended = ({ get }: Teller, id: string) =>
  until(async () => {
    const { data } = await get(`/api/v1/sagas/${id}`)
    return data.finished_at && data
  })

const machines: Story = {
  weight: 3,
  async tell(teller) {
    const { send, random, world, name } = teller
    const { id } = await newDeployment(teller, `tenant-${Math.floor(random() * 6)}`)
    const params = { id }
    await send('subscribeDeployment', { params, body: { plan_code: world.plans[0] } })
    const orders = []
    for (let n = 0; n < 2; n++) {
      const { data } = await send('provisionDeployment', {
        params,
        body: { ...ORDER, name: name('machine') },
      })
      orders.push(data.id)
    }
    for (const order of orders) await ended(teller, order)
    const { data: down } = await send('deprovisionDeployment', { params })
    await ended(teller, down.id)
  },
}

const changedMind: Story = {
  weight: 1,
  async tell(teller) {
    const { send, random, name } = teller
    const { id } = await newDeployment(teller, `tenant-${Math.floor(random() * 6)}`)
    const inputs = { deployment_id: id, ...ORDER, name: name('machine') }
    const { data } = await send('startSaga', { body: { kind: 'provision_deployment', inputs } })
    await send('cancelSaga', { params: { id: data.id }, refusals: ['saga_ended'] })
    await ended(teller, data.id)
  },
}

const invoices: Story = {
  weight: 1,
  async tell({ send, world, random, alone }) {
    const id = world.invoices[Math.floor(random() * world.invoices.length)]!
    await alone(`invoice ${id}`, async () => {
      await send('ingestInvoice', { params: { id }, refusals: ['already_running'] })
      await send('pushInvoice', { params: { id } })
    })
    const line = world.costLines[Math.floor(random() * world.costLines.length)]!
    await alone(`line ${line}`, async () => {
      const params = { id: line }
      // A line may be replaced by another ingest of its invoice, which gives the new one its own id.
      const refusals = ['not_found']
      const answer = await send('assignCostLine', { params, body: { tenant_id: 'tenant-1' }, refusals })
      if (answer.data) await send('unassignCostLine', { params, refusals })
    })
  },
}

const drift: Story = {
  weight: 1,
  async tell(teller) {
    const { send, get, world, random, alone, name } = teller
    const id = world.resources[Math.floor(random() * world.resources.length)]!
    await alone(`resource ${id}`, async () => {
      const params = { id }
      const wanted = (value: string) => ({ body: { spec: { name: value } } })
      await send('putDesiredState', { params, ...wanted(name('wanted')), action: 'created' })
      await send('putDesiredState', { params, ...wanted(name('wanted')) })
      await send('runTask', { params: { name: 'drift_detection' }, refusals: ['already_running'] })
      let looks = 0
      const found = await until(async () => {
        const { data } = await get(`/api/v1/drift?resource_id=${id}`)
        return data.length > 0 || ++looks > 20 ? data : undefined
      })
      if (found.length > 0) await accept(teller, found[0].id)
      await send('deleteDesiredState', { params })
    })
    const body = { kind: 'volume', field: name('field'), reason: 'chaos' }
    const { data: rule } = await send('createIgnoreRule', { body })
    await send('deleteIgnoreRule', { params: { id: rule.id } })
  },
}

/** Meanwhile the resource's project may have changed hands, and with it the drift ends: another opens for the new owner. */
async function accept({ send, get }: Teller, id: string): Promise<void> {
  const { code } = await send('acceptDrift', { params: { id }, refusals: ['drift_not_open'] })
  if (code !== 'drift_not_open') return
  const { data } = await get(`/api/v1/drift/${id}`)
  if (data.status === 'open') throw new Error(`drift ${id} is open and was refused as if it were not`)
}

const tasks: Story = {
  weight: 1,
  async tell({ send, world, random, alone }) {
    await alone('task', async () => {
      const params = { name: 'housekeeping' }
      await send('pauseTask', { params })
      await send('resumeTask', { params })
      await send('runTask', { params, refusals: ['already_running'] })
    })
    const project = world.projects[Math.floor(random() * world.projects.length)]!
    await alone(`project ${project}`, async () => {
      const params = { id: project }
      await send('assignProject', { params, body: { tenant_id: 'tenant-of-project', purpose: 'tenant' } })
      await send('assignProject', { params, body: { tenant_id: null, purpose: 'unassigned' } })
    })
  },
}

const findings: Story = {
  weight: 1,
  async tell({ send, get, random, alone, name }) {
    const { data } = await get('/api/v1/findings')
    if (data.length === 0) return
    const { id } = data[Math.floor(random() * data.length)]!
    await alone(`finding ${id}`, async () => {
      const params = { id }
      const body = { reason: name('reason'), until: new Date(Date.now() + 3_600_000).toISOString() }
      // A run of the checks may close it meanwhile.
      const refusals = ['finding_closed']
      const { data: snoozed } = await send('snoozeFinding', { params, body, refusals })
      if (snoozed) await send('endFindingSnooze', { params, refusals })
    })
  },
}

export const running: Record<string, Story> = { machines, changedMind, invoices, drift, tasks, findings }
