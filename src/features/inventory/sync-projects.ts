// Mirrors the projects and what each holds, then re-homes the resources whose project or tenant that changes.

import type { Deps } from '../../deps.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import { lockLists, replaceMembers, strikeUnseenProjects, upsertProjects } from './project-store.ts'
import { type ProjectList, readProjectLists } from './read-projects.ts'
import { LostRunError } from './sync-kind.ts'
import { createRemarks, PROJECTS } from './sync-run.ts'
import { finishRun, lockRun, markFresh, noProgress, startRun } from './sync-run-store.ts'
import { rehome } from './write-resources.ts'

export async function syncProjects(
  deps: Deps,
  sweepId: string,
  { signal, log }: Pick<JobRun, 'signal' | 'log'>,
): Promise<void> {
  const { db, providers, clock, platformTenantId } = deps
  const provider = providers.for('cloud_sync_slow')
  const started_at = clock.now().toISOString()
  const run = await transaction(db, tx =>
    startRun(tx, { id: newId(), sweep_id: sweepId, kind: PROJECTS, started_at }),
  )
  if (!run) return
  const progress = noProgress()
  const remarks = createRemarks()
  const nothing = { struck: 0, deleted: 0, held: 0 }
  try {
    const reading = readProjectLists(provider, { signal }, remarks)
    const lists: ProjectList[] = []
    for await (const list of reading) lists.push(list)
    const { reason, listing: read } = reading.outcome()
    const listing = read!
    const projects = lists.map(({ project }) => project)
    const at = clock.now().toISOString()
    await transaction(db, async tx => {
      if (!(await lockRun(tx, run))) throw new LostRunError(PROJECTS)
      await upsertProjects(tx, projects, { at, look: run.look }, platformTenantId)
      const strikes = listing.complete ? await strikeUnseenProjects(tx, run.look, at) : nothing
      await lockLists(tx, 'exclusive')
      for (const { project, members, whole } of lists)
        await replaceMembers(tx, project.provider_id, members, {
          whole,
          asked: { at: started_at, look: run.look },
        })
      const moved = await rehome(tx, at, `sync:${run.id}`)
      const status = reason === null ? 'complete' : 'partial'
      if (status === 'complete') await markFresh(tx, run)
      const counts = {
        ...progress,
        ...remarks.counts(),
        pages: listing.pages,
        seen: projects.length,
        total: listing.total,
        updated: moved,
      }
      await finishRun(tx, run, { ...counts, ...nothing, ...strikes, status, finished_at: at, error: reason })
      log.info({ status, projects: projects.length, moved, error: reason }, 'projects swept')
    })
  } catch (error) {
    if (error instanceof LostRunError) throw error
    await transaction(db, tx =>
      finishRun(tx, run, {
        ...progress,
        ...nothing,
        status: 'failed',
        finished_at: clock.now().toISOString(),
        error: reasonOf(error),
      }),
    )
    throw error
  }
}
