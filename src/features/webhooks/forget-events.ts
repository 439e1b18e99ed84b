// A piece of the housekeeping: events go after 30 days, with the record of their deliveries.
import type { Deps } from '../../deps.ts'
import { deleteEventsBefore } from './dispatch-repository.ts'

const KEEP_DAYS = 30

export const forgetWebhookEvents = ({ db, clock }: Pick<Deps, 'db' | 'clock'>) => ({
  what: `webhook events older than ${KEEP_DAYS} days`,
  run: () => deleteEventsBefore(db, new Date(clock.now().getTime() - KEEP_DAYS * 86_400_000).toISOString()),
})
