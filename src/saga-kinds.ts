// Every workflow this version knows: the one list that the API starts from and the worker drives by.
import type { Context } from './context.ts'
import { provisioningSagas } from './features/provisioning/index.ts'
import type { SagaKind } from './features/sagas/index.ts'

export const sagaKinds = (ctx: Context): SagaKind[] => provisioningSagas(ctx)
