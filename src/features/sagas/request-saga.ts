// Someone asks for a workflow: the inputs are checked by the kind's schema and by the kind itself, then the run is begun,
// all in one transaction.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid } from '../../kernel/errors.ts'
import { fieldErrors, validatorCompiler } from '../../kernel/http/validation.ts'
import { showRun } from './repository.ts'
import { startSaga } from './start-saga.ts'
import type { Json, SagaKind } from './step.ts'

export interface Requested {
  id: string
  created: boolean
  /** The run as JSON text. */
  json: string
}

/** `pointer` is where the inputs stand in the request's body. */
export function requestSaga(
  deps: Deps,
  kind: SagaKind,
  inputs: Json,
  actor: string,
  pointer = '/inputs',
): Promise<Requested> {
  checkInputs(kind, inputs, pointer)
  return transaction(deps.db, async tx => {
    const prepared = await kind.prepare(tx, inputs)
    const started = await startSaga(deps, tx, { inputs, ...prepared, kind, actor })
    return { ...started, json: (await showRun(tx, { allTenants: true }, started.id))! }
  })
}

/** As bodies are checked, and with the schema's defaults filled in. */
function checkInputs(kind: SagaKind, inputs: Json, pointer: string): void {
  const check = validatorCompiler({ schema: kind.inputs, httpPart: 'body', method: 'POST', url: kind.kind })
  if (check(inputs) === true) return
  const { errors } = check as unknown as { errors: Parameters<typeof fieldErrors>[0] }
  const fields = fieldErrors(errors ?? [], 'body').map(error => ({
    ...error,
    pointer: pointer + error.pointer,
  }))
  throw invalid('The body is not acceptable.', fields)
}
