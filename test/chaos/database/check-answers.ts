// What callers were told: every write answered, none refused that should not be, the same answer again to a retry.
import { type Client, differing, isUnknown } from './client.ts'
import type { Nodes } from './nodes.ts'
import { operationOf } from './operations.ts'

const MOST_REPLAYS = 300

/** A request that was answered says the same again to the end. */
export async function compareReplays(client: Client): Promise<number> {
  const keyed = client.history.filter(
    ({ operation, outcome }) => outcome !== 'open' && operationOf(operation).keyed,
  )
  const every = Math.max(1, Math.ceil(keyed.length / MOST_REPLAYS))
  const chosen = keyed.filter((_, place) => place % every === 0)
  for (const intent of chosen) intent.other ??= differing(intent, await client.repeat(intent))
  return chosen.length
}

export function checkAnswers({ history, faults }: Client, nodes: Nodes): string[] {
  const open = history.filter(({ outcome }) => outcome === 'open')
  const refused = history.filter(({ unexpected }) => unexpected)
  const other = history.filter(intent => intent.other)
  const reason = (requestId?: string) => {
    const line = requestId && nodes.logged(requestId)
    return line ? (JSON.parse(line).err?.message ?? 'no reason') : 'not in the log'
  }
  return [
    ...counted(open, ({ operation }) => `writes were never answered: ${operation}`),
    ...counted(refused, ({ operation, answer, attempts }) => {
      const after = attempts.some(isUnknown) ? 'after an unknown outcome' : 'at once'
      return `writes were refused ${after}: ${operation} ${answer!.status} ${answer!.body?.code}`
    }),
    ...counted(
      other,
      ({ operation, answer, other: again }) =>
        `retries got another answer: ${operation} ${answer!.status}, then ${again!.status} ${again!.body?.code ?? ''}`,
    ),
    ...counted(faults, ({ operation, request_id }) => `answers 500: ${operation}: ${reason(request_id)}`),
  ]
}

function counted<T>(all: T[], words: (one: T) => string): string[] {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(words(one), (counts.get(words(one)) ?? 0) + 1)
  return [...counts].map(([what, count]) => `${count} ${what}`)
}

export async function checkChain(client: Client): Promise<string[]> {
  const { data } = await client.get('/api/v1/admin/audit_log/verify')
  return data.intact ? [] : [`the audit log's chain is broken: ${data.reason}`]
}
