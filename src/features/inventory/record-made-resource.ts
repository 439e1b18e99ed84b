// A resource that a saga has made enters the inventory as any sighting does, and at once with what the saga knows and no
// sweep could tell yet: its project, its tenant, its deployment.
import { sql } from 'kysely'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { keepLists, placeInProject } from './project-repository.ts'
import { seenResource } from './seen-resource.ts'
import { PROVIDER } from './tables.ts'
import { rehome, type Sighting } from './write-resources.ts'
import { writeSeen } from './write-seen.ts'

export interface Place {
  projectId: string
  deploymentId: string
}

/** In the caller's transaction; the id of the row. */
export async function recordMadeResource(
  tx: Executor,
  sighting: Sighting,
  item: MappedItem,
  { projectId, deploymentId }: Place,
): Promise<string> {
  const { kind, at, actor } = sighting
  await keepLists(tx)
  await placeInProject(tx, projectId, { kind, provider_id: item.provider_id }, sighting)
  // Without its fingerprint it is compared field by field: a token that cannot read tags would hide the tie.
  await writeSeen(tx, sighting, { ...seenResource(item), deployment_id: deploymentId, fingerprint: '' })
  // A sweep may have found it before: then it has a place already.
  await rehome(tx, at, actor, projectId)
  const { rows } = await sql<{ id: string }>`
    select id from cloud_resources
    where provider = ${PROVIDER} and kind = ${kind} and provider_id = ${item.provider_id}`.execute(tx)
  return rows[0]!.id
}
