// A provider token that was stored or deleted is news: this process asks with it at once, the others look by themselves.
import type { Deps } from '../../deps.ts'
import { afterCommit } from '../../kernel/db/transaction.ts'
import { isTokenSecret } from './secret-name.ts'

export async function announce({ db, providerTokens }: Deps, name: string): Promise<void> {
  if (isTokenSecret(name)) await afterCommit(db, () => providerTokens.refresh())
}
