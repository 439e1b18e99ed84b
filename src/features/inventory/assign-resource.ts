// An operator says which deployment a resource is for, where no tag can: load balancers, domains, databases, registries. A tag
// that ties the resource to a deployment of its tenant is the stronger word: then it is the tag that has to change. What no
// project can hold (a registry) becomes the deployment's tenant's with it.
import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { lockLists } from './project-store.ts'
import { deploymentOfTags, deploymentTag } from './seen-resource.ts'
import { findNamed } from './store.ts'
import type { KnownResource } from './sweep-plan.ts'
import { assign } from './write-resources.ts'
import { lockKnown, lockPlaces, tenantsOf } from './write-seen.ts'

export const assignResource = (
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  id: string,
  deploymentId: string | null,
  actor: string,
): Promise<void> =>
  transaction(db, async tx => {
    const resource = await locked(tx, id)
    if (resource.deleted_at !== null) throw conflict('resource_gone', 'The resource was deleted.')
    const held = resource.project_id !== null
    const tagged = held ? (deploymentOfTags(resource.tags) ?? null) : null
    const tenants = await tenantsOf(
      tx,
      [tagged, deploymentId].flatMap(named => named ?? []),
    )
    const tenant = deploymentId === null ? null : tenants.get(deploymentId)
    if (tenant === undefined || (held && tenant !== null && tenant !== resource.tenant_id))
      throw invalid('The body is not acceptable.', [
        { pointer: '/deployment_id', message: 'is not the id of a deployment of the resource’s tenant' },
      ])
    if (deploymentId === resource.deployment_id) return
    if (tagged !== null && tenants.get(tagged) === resource.tenant_id)
      throw conflict('tied_by_tag', `Its tag ${deploymentTag(tagged)} ties it: change that at the provider.`)
    const after = { deployment_id: deploymentId, tenant_id: held ? resource.tenant_id : tenant }
    await assign(tx, { at: clock.now().toISOString(), actor }, resource, after)
    const { tenant_id: tenantId, ...details } = after
    await recordRequest(tx, { subjectType: 'cloud_resources', subjectId: id, tenantId, details })
  })

/** In the order in which every writer of resources locks: lists, projects, rows. Whose it is stays as it is until the end. */
async function locked(tx: Executor, id: string): Promise<KnownResource> {
  const named = await findNamed(tx, id)
  if (!named) throw notFound()
  await lockLists(tx, 'shared')
  await lockPlaces(tx, named.kind, [named])
  return (await lockKnown(tx, named.kind, [named]))[0]!
}
