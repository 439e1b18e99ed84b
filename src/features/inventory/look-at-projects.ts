// The projects' lists, read between the sweeps: a resource that was found by looking gets its project, and with it its tenant,
// without waiting for the sweep. What a list does not name stays where it is, and no project is struck.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Looking, SeenKind } from './look-again.ts'
import { lockLists, replaceMembers, upsertProjects } from './project-store.ts'
import { type ProjectList, readProjectLists } from './read-projects.ts'
import { PROJECTS } from './sync-run.ts'
import { beginLook, sweptSince } from './sync-run-store.ts'
import { rehome } from './write-resources.ts'

export async function lookAtProjects(
  { db, clock, platformTenantId }: Pick<Deps, 'db' | 'clock' | 'platformTenantId'>,
  { provider, signal, spending }: Looking,
): Promise<SeenKind> {
  const asked = await beginLook(db, clock)
  const lists: ProjectList[] = []
  const reading = readProjectLists(provider, { signal, counted: spending.counted })
  let gaveWay = false
  for await (const list of reading) {
    lists.push(list)
    gaveWay = !spending.mayGoOn()
    if (gaveWay) break
  }
  const projects = lists.map(({ project }) => project)
  await transaction(db, async tx => {
    await lockLists(tx, 'exclusive')
    // The sweep asked later: its lists are newer than these.
    if (await sweptSince(tx, PROJECTS, asked.look)) return
    await upsertProjects(tx, projects, asked, platformTenantId)
    for (const { project, members } of lists)
      await replaceMembers(tx, project.provider_id, members, { whole: false, asked, placing: true })
    await rehome(tx, clock.now().toISOString(), 'feed')
  })
  const { pages, reason } = reading.outcome()
  return { whole: !gaveWay && reason === null, pages, changed: [], placeless: false, gaveWay }
}
