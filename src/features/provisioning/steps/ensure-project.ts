// Step: finds the project of the tenant's resources in the mirror or at the provider, or makes it there. Two runs at once
// end with one project: the provider takes a name once, and whoever is refused finds the other's. It is not undone: an
// empty project costs nothing and the next run finds it, and deleting it would race with that run.
import type { Deps } from '../../../deps.ts'
import { type Provider, ProviderError, type RawItem } from '../../../integrations/digitalocean/index.ts'
import { findTenantProject, recordTenantProject } from '../../inventory/index.ts'
import type { Step } from '../../sagas/index.ts'
import { sagaActor, tenantProjectName } from '../provisioning.ts'

export const ensureProject = (deps: Deps): Step => ({
  name: 'ensure_project',
  timeoutMs: 5 * 60_000,

  async execute({ sagaId, context, signal, transaction }) {
    const tenantId = String(context.tenant_id)
    const known = await transaction(tx => findTenantProject(tx, tenantId))
    if (known) return done(known, 'known')
    const name = tenantProjectName(tenantId)
    const provider = deps.providers.for('provisioning')
    const found = await findNamed(provider, name, signal)
    const raw = found ?? (await makeNamed(provider, name, tenantId, signal))
    const project = await transaction(tx => recordTenantProject(tx, deps, raw, tenantId, sagaActor(sagaId)))
    if (!project)
      return { ok: false, reason: `the provider’s project “${name}” has been given to someone else` }
    return done(project, found ? 'found' : 'made')
  },
})

const done = ({ id, provider_id }: { id: string; provider_id: string }, how: string) => ({
  ok: true as const,
  context: { project_id: id, project_provider_id: provider_id },
  output: { project_id: id, project_provider_id: provider_id, how },
})

async function findNamed(
  provider: Provider,
  name: string,
  signal: AbortSignal,
): Promise<RawItem | undefined> {
  const listing = await provider.projects({ signal })
  const found = listing.items.find(project => project.name === name)
  if (!found && !listing.complete)
    throw new ProviderError(`the projects could not be listed whole: ${listing.reason}`, {
      kind: 'malformed',
    })
  return found
}

async function makeNamed(
  provider: Provider,
  name: string,
  tenantId: string,
  signal: AbortSignal,
): Promise<RawItem> {
  const description = `Made by cloudops for the tenant ${tenantId}`.slice(0, 255)
  try {
    const input = { name, description, purpose: 'Service or API', environment: 'Production' as const }
    return await provider.createProject(input, { signal })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // Another run made it since, or we did and the response was lost.
    const mayBeThere = error.status === 409 || error.mayHaveHappened
    const found = mayBeThere ? await findNamed(provider, name, signal) : undefined
    if (!found) throw error
    return found
  }
}
