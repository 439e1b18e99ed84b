// What the month of a change would end with, as things stand and with the change: the facts and the arithmetic of usage, with
// other terms. Handed to the subscriptions by app.ts.
import type { Deps } from '../../deps.ts'
import type { PreviewMonth } from '../subscriptions/index.ts'
import { monthAt } from './period.ts'
import { readFacts } from './read-usage.ts'
import { statementLines, totalOf } from './statement-lines.ts'
import { currencyOf } from './usage.ts'

export const previewMonth =
  ({ tenantTime: time }: Pick<Deps, 'tenantTime'>): PreviewMonth =>
  async (tx, { now, deploymentId: id, at, change }) => {
    const month = monthAt(at, now)
    const read = async (instead?: Parameters<typeof readFacts>[4]['instead']) =>
      (await readFacts(tx, now, month, [id], { time, forecast: true, instead })).facts.get(id)!
    const facts = await read()
    const changedFacts = await read(new Map([[id, change(facts.terms)]]))
    const [lines, changedLines] = [statementLines(facts), statementLines(changedFacts)]
    const [total_cents, changedTotal] = [totalOf(lines), totalOf(changedLines)]
    return {
      effective_from: at,
      period: month.period,
      currency: currencyOf(changedFacts),
      current: { total_cents, lines },
      changed: { total_cents: changedTotal, lines: changedLines },
      difference_cents: changedTotal - total_cents,
    }
  }
