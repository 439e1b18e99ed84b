// A provider token that was stored or deleted is news: this process asks with it at once, the others look by themselves.
import { afterCommit } from '../../kernel/db/transaction.ts'
import { isTokenSecret } from './secret-name.ts'
import type { SecretsKernel } from './secrets-kernel.ts'

export async function announce({ db, providerTokens }: SecretsKernel, name: string): Promise<void> {
  if (isTokenSecret(name)) await afterCommit(db, () => providerTokens.refresh())
}
