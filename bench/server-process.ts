// A server in a process of its own, so that ours and the peer share neither a heap nor an event loop. The bench's side
// starts it, asks what it has used, and ends it; `serving` is the server's side.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface ServerProcess {
  url: string
  usage(): Promise<Usage>
  stop(): Promise<void>
}

export interface Usage {
  cpuMicroseconds: number
  residentBytes: number
  heapBytes: number
}

/** `file` is of bench/servers. What it writes to standard output is thrown away, logs with it. */
export async function startServer(file: string, env: Record<string, string>): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, 'servers', file), [], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`bench/servers/${file} ended with ${code}`)
  })
  died.catch(() => {})
  const answer = async <T>(): Promise<T> => (await Promise.race([once(child, 'message'), died]))[0] as T
  const { url } = await answer<{ url: string }>()
  return {
    url,
    usage() {
      const usage = answer<Usage>()
      child.send('usage')
      return usage
    },
    async stop() {
      child.disconnect()
      await died.catch(() => {})
    },
  }
}

/** Called by a server once it listens. */
export function serving(url: string): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const usage: Usage = { cpuMicroseconds: user + system, residentBytes: rss, heapBytes: heapUsed }
    process.send?.(usage)
  })
  process.on('disconnect', () => process.exit(0))
  // The bench may have gone while this was starting.
  if (!process.connected) process.exit(0)
  process.send?.({ url })
}
