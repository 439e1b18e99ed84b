// Step: the droplet moves into the tenant's project. Sent again until it succeeds, which is safe:
// assigning twice is assigning once. Nothing to undo: a droplet that is destroyed leaves its project.
import type { Deps } from '../../../deps.ts'
import { urnOf } from '../../../integrations/digitalocean/index.ts'
import type { Step } from '../../sagas/index.ts'

const ASSIGNED = new Set(['ok', 'assigned', 'already_assigned'])

export const assignToProject = ({ providers }: Pick<Deps, 'providers'>): Step => ({
  name: 'assign_to_project',
  timeoutMs: 5 * 60_000,

  async execute({ context, signal }) {
    const urn = urnOf('droplet', String(context.droplet_id))!
    const project = String(context.project_provider_id)
    const provider = providers.for('provisioning')
    let status = 'no answer'
    const assigned = await provider.poll(
      async () => {
        const [response] = await provider.assignToProject(project, [urn], { signal })
        status = response?.status ?? status
        // Anything else may mean that the provider's projects do not know the droplet yet.
        return ASSIGNED.has(status) || undefined
      },
      { signal },
    )
    if (assigned) return { ok: true, output: { status } }
    return { ok: false, reason: `the provider did not assign ${urn} to the project: ${status}` }
  },
})
