// The provider's actions that have not been followed yet, for whoever sees what they did before that: their events name them too.
import {
  type CallOptions,
  type Provider,
  type ProviderAction,
  ProviderError,
} from '../../integrations/digitalocean/index.ts'

export interface Position {
  /** The newest action that was followed; null before the first. */
  newestId: number | null
  /** Those that were under way then. */
  open: ReadonlySet<number>
}

/** Older ones were followed when they were made: what they changed is known. None when the provider does not say. */
export async function actionsSince(
  provider: Provider,
  { newestId, open }: Position,
  call: CallOptions,
): Promise<ProviderAction[]> {
  if (newestId === null) return []
  try {
    const { actions } = await provider.actionsPage(1, call)
    return actions.filter(({ id }) => id > newestId || open.has(id))
  } catch (error) {
    if (error instanceof ProviderError) return []
    throw error
  }
}
