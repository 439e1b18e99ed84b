// Step: waits until the droplet has booted. Nothing to undo: it only polls.
import type { Deps } from '../../../deps.ts'
import type { Step } from '../../sagas/index.ts'

export const waitUntilActive = ({ providers }: Pick<Deps, 'providers'>): Step => ({
  name: 'wait_until_active',
  timeoutMs: 25 * 60_000,

  async execute({ context, signal }) {
    const dropletId = String(context.droplet_id)
    const actionId = typeof context.action_id === 'string' ? context.action_id : null
    await providers.for('provisioning').waitForActiveDroplet({ dropletId, actionId }, { signal })
    return { ok: true }
  },
})
