// A run is begun: its row and its job are made in the caller's transaction. Of one kind, one business key has at most one
// run under way, by a unique index; whoever starts it again is given that one.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { findUnderWay, insertRun } from './repository.ts'
import { sendRun } from './saga-job.ts'
import type { Json, SagaKind } from './step.ts'
import { textOf } from './stored-json.ts'

export interface SagaStart {
  kind: SagaKind
  inputs: Json
  businessKey: string
  deploymentId: string | null
  tenantId: string | null
  actor: string
}

export interface Started {
  id: string
  /** False: it was under way already. */
  created: boolean
}

/** The one under way may end while it is looked up; then the next attempt makes a new one. */
const ATTEMPTS = 5

export async function startSaga(deps: Deps, tx: Executor, start: SagaStart): Promise<Started> {
  const { kind, inputs, businessKey, deploymentId, tenantId, actor } = start
  const [id, jobId] = [newId(), newId()]
  const run = {
    id,
    kind: kind.kind,
    stepModules: kind.steps.map(step => step.name),
    inputs: textOf(inputs, 'inputs'),
    businessKey,
    deploymentId,
    tenantId,
    actor,
    jobId,
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await insertRun(tx, run)) {
      await sendRun(deps, tx, id, jobId)
      deps.log.info({ saga_id: id, saga: kind.kind, actor }, 'saga pending')
      return { id, created: true }
    }
    const underWay = await findUnderWay(tx, kind.kind, businessKey)
    if (underWay) return { id: underWay, created: false }
  }
  throw conflict('conflict', 'Runs of this kind come and go too quickly. Try again.')
}
