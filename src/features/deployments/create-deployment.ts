// A new deployment: it starts in `active`, and creating it records no event, for nothing was left.
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { conflict, forbidden, invalid } from '../../kernel/errors.ts'
import { type Caller, seesAllTenants } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { FIRST_STATE } from './lifecycle.ts'
import { insertDeployment } from './repository.ts'
import type { CloudDeploymentRow } from './tables.ts'

export interface NewDeployment {
  slug: string
  tenant_id?: string
  display_name?: string
  region?: string
  llm_mode?: string
  template_code?: string | null
  template_version?: string | null
}

export async function createDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  input: NewDeployment,
): Promise<CloudDeploymentRow> {
  const now = clock.now().toISOString()
  const row: CloudDeploymentRow = {
    id: newId(),
    tenant_id: tenantFor(caller, input.tenant_id),
    slug: input.slug,
    display_name: input.display_name ?? input.slug,
    region: input.region ?? 'nyc3',
    state: FIRST_STATE,
    llm_mode: input.llm_mode ?? 'standard',
    billing_action_suspended: false,
    billing_action_suspended_by: null,
    billing_action_suspended_at: null,
    billing_action_suspended_reason: null,
    template_code: input.template_code ?? null,
    template_version: input.template_version ?? null,
    created_at: now,
    updated_at: now,
  }
  try {
    await insertDeployment(db, row)
  } catch (error) {
    if (violatedConstraint(error) !== 'cloud_deployments_slug') throw error
    throw conflict('slug_taken', `The tenant has a deployment with the slug ${input.slug} already.`)
  }
  return row
}

function tenantFor(caller: Caller, named: string | undefined): string {
  const tenant = named ?? caller.tenantId
  if (tenant === null) {
    throw invalid('The body is not acceptable.', [
      { pointer: '/tenant_id', message: 'is required: the token names no tenant' },
    ])
  }
  if (!seesAllTenants(caller) && tenant !== caller.tenantId)
    throw forbidden('A deployment can be made for your own tenant only.')
  return tenant
}
