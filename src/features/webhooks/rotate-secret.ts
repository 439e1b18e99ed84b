// A new secret takes the place of the old one, which signs beside it for a day: receivers can change over in their own time.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { WebhookWithSecret } from './create-webhook.ts'
import { replaceSecret, type Whose } from './repository.ts'
import { newSecret, overlapEnd, sealSecret } from './webhook-secret.ts'

export async function rotateSecret(
  { db, clock, webhookEncryption }: Deps,
  whose: Whose,
  id: string,
): Promise<WebhookWithSecret> {
  const secret = newSecret()
  const now = clock.now()
  const times = { at: now.toISOString(), until: overlapEnd(now) }
  const sealed = sealSecret(webhookEncryption, id, secret)
  const webhook = await transaction(db, tx => replaceSecret(tx, whose, id, sealed, times))
  if (!webhook) throw notFound()
  return { ...webhook, secret }
}
