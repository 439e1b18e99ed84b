// Which queue asks the provider with a token of its own. Every process polls the stored tokens every few seconds, so a new
// one is used without a restart. One that cannot be read is logged once, and the common token is used instead.
import type { Deps } from '../../deps.ts'
import type { QueueName } from '../../kernel/queue/queues.ts'
import { queueOf } from './secret.ts'
import { listTokenSecrets } from './store.ts'

export interface ProviderTokens {
  /** Reads them now. When that fails the tokens stay as they were. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const POLL_MS = 5_000

export async function watchProviderTokens(
  { db, log, vault }: Pick<Deps, 'db' | 'log' | 'vault'>,
  use: (tokens: ReadonlyMap<QueueName, string>) => void,
): Promise<ProviderTokens> {
  /** What was found last time, to tell what is new. */
  let known = '[]'
  let reading = Promise.resolve()
  let waiting = 0

  async function read(): Promise<void> {
    const rows = await listTokenSecrets(db)
    const found = JSON.stringify(rows)
    if (found === known) return
    const tokens = new Map<QueueName, string>()
    for (const { name, sealed } of rows) {
      const queue = queueOf(name)
      // A queue that another version has.
      if (queue === undefined) continue
      const token = vault.decrypt(name, sealed)
      if (token !== null) tokens.set(queue, token)
      else if (!known.includes(sealed))
        log.error(
          { name },
          'A PROVIDER TOKEN CANNOT BE READ: it was encrypted under another SECRET_KEY. DIGITALOCEAN_TOKEN stands in; put the secret again',
        )
    }
    use(tokens)
    known = found
    log.info({ queues: [...tokens.keys()] }, 'queues that ask the provider with a token of their own')
  }

  /** One read after another: an older answer must not undo a newer one. */
  function refresh(): Promise<void> {
    waiting += 1
    reading = reading
      .then(read)
      .catch(error => log.warn({ err: error }, 'the provider tokens could not be looked up'))
      .finally(() => {
        waiting -= 1
      })
    return reading
  }

  // A start that cannot read them fails, rather than asking with the wrong token.
  await read()
  const timer = setInterval(() => {
    // A database that does not answer is not asked again before it has.
    if (waiting === 0) void refresh()
  }, POLL_MS).unref()
  return {
    refresh,
    async close() {
      clearInterval(timer)
      await reading
    },
  }
}
