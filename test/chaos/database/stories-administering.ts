// API keys, webhooks, secrets, storage backends, roles, users, invitations, sessions.
import { type Story, until } from './story.ts'

const apiKeys: Story = {
  weight: 3,
  async tell({ send, name }) {
    const user_id = name('user')
    const as = { sub: user_id, tenant_id: 'tenant-1', role: 'member' }
    const order = { params: { user_id }, body: { description: user_id }, as }
    const { data: first } = await send('createApiKey', order)
    const rotated = { user_id, key_id: first.key_id }
    const { data: second } = await send('rotateApiKey', { params: rotated, body: { grace_seconds: 60 }, as })
    const params = { user_id, key_id: second.key_id }
    await send('revokeApiKey', { params, body: { reason: 'chaos' }, as })
  },
}

const webhooks: Story = {
  weight: 2,
  async tell({ send, get, name, world }) {
    const body = { url: world.hook, events: ['deployment.*'], description: name('hook'), tenant_id: 'nobody' }
    const { data } = await send('createWebhook', { body })
    const params = { id: data.id }
    await send('changeWebhook', { params, body: { description: name('hook') } })
    await send('rotateWebhookSecret', { params })
    const { data: tested } = await send('testWebhook', { params })
    await until(async () => {
      const { data: shown } = await get(`/api/v1/admin/webhooks/${data.id}/deliveries/${tested.id}`)
      return shown.status === 'delivered'
    })
    await send('replayWebhookDelivery', { params: { ...params, delivery_id: tested.id } })
    await send('deleteWebhook', { params })
  },
}

/** Of a tenant of its own: one can have ten. */
const ownWebhooks: Story = {
  weight: 1,
  async tell({ send, get, name, world }) {
    const body = { url: world.hook, events: ['deployment.*'] }
    const as = { sub: name('user'), tenant_id: name('tenant'), role: 'member' }
    const { data } = await send('createOwnWebhook', { body, as })
    const params = { id: data.id }
    await send('changeOwnWebhook', { params, body: { description: name('hook') }, as })
    await send('rotateOwnWebhookSecret', { params, as })
    const { data: tested } = await send('testOwnWebhook', { params, as })
    await until(async () => {
      const { data: shown } = await get(`/api/v1/webhooks/${data.id}/deliveries/${tested.id}`)
      return shown.status === 'delivered'
    })
    await send('replayOwnWebhookDelivery', { params: { ...params, delivery_id: tested.id }, as })
    await send('deleteOwnWebhook', { params, as })
  },
}

const secrets: Story = {
  weight: 1,
  async tell({ send, name: nameOf }) {
    const name = nameOf('secret')
    await send('createSecret', { body: { name, value: nameOf('value') } })
    await send('putSecret', { params: { name }, body: { value: nameOf('value') } })
    await send('deleteSecret', { params: { name } })
  },
}

const storage: Story = {
  weight: 1,
  async tell({ send, name, alone }) {
    await alone('storage', async () => {
      const local = { name: name('disk'), kind: 'local', folder: name('folder') }
      const { data } = await send('createStorageBackend', { body: local })
      const params = { id: data.id }
      await send('changeStorageBackend', { params, body: { name: name('disk') } })
      await send('checkStorageBackend', { params })
      await send('activateStorageBackend', { params })
      await send('deactivateStorageBackend', { params })
      // An invoice may have been kept there meanwhile.
      await send('deleteStorageBackend', { params, refusals: ['backend_in_use'] })
    })
  },
}

const people: Story = {
  weight: 2,
  async tell({ send, name }) {
    const role = name('role')
    await send('createRole', { body: { name: role, permissions: ['*:read'] } })
    await send('changeRole', { params: { name: role }, body: { description: name('Looks on') } })
    await send('deleteRole', { params: { name: role } })
    const user_id = name('person')
    await send('createUser', { body: { id: user_id, tenant_id: 'tenant-1' } })
    await send('changeUser', { params: { user_id }, body: { display_name: name('Somebody') } })
    await send('deleteUser', { params: { user_id } })
  },
}

const invitations: Story = {
  weight: 2,
  async tell({ send, name }) {
    const invite = (email: string) => send('createInvitation', { body: { email, tenant_id: 'tenant-2' } })
    const { data: taken } = await invite(`${name('guest')}@example.com`)
    const guest = { sub: name('guest'), tenant_id: 'tenant-2', role: 'member' }
    await send('acceptInvitation', { body: { token: taken.token }, as: guest, subject: taken.id })
    const { data: withdrawn } = await invite(`${name('guest')}@example.com`)
    await send('revokeInvitation', { params: { id: withdrawn.id } })
    await send('startSession', { as: guest })
    await send('endSession', { as: guest })
  },
}

export const administering: Record<string, Story> = {
  apiKeys,
  webhooks,
  ownWebhooks,
  secrets,
  storage,
  people,
  invitations,
}
