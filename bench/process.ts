// Processes of the bench: whatever is measured shares neither a heap nor a compiler with the bench or with its peer. The
// bench starts them, asks and ends them; `serving` and `working` are the other side. Ours and every peer get the same
// options of Node, as bin/cloudops.js has them, and pools of the same size.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { type JWTPayload, SignJWT } from 'jose'
import { withLongStatements } from '../src/kernel/db/connection.ts'

export const POOL_SIZE = '10'

type Environment = Record<string, string>

/** What the service needs in its environment, with secrets of this run's own. */
export function serviceEnvironment(databaseUrl: string) {
  const secret = () => randomBytes(48).toString('base64')
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: POOL_SIZE,
    JWT_SECRET: secret(),
    SECRET_KEY: secret(),
    SESSION_SIGNING_SALT: secret(),
    // As by default, but never reached.
    RATE_LIMIT_PER_MINUTE: '10000000',
  }
}

interface Child<Question, Answer> {
  ask(question: Question): Promise<Answer>
  stop(): Promise<void>
}

/** `file` is of bench/processes. What it writes to standard output is thrown away, logs with it. */
function start<Question extends object, Answer>(file: string, env: Environment, nodeOptions: string[] = []) {
  const child = fork(join(import.meta.dirname, 'processes', file), [], {
    execArgv: ['--max-semi-space-size=16', ...nodeOptions],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // A figure that fails leaves its processes behind: they end with the bench, which does not wait for them.
  const end = () => child.kill()
  process.once('exit', end)
  const died = once(child, 'exit').then(([code]) => {
    process.off('exit', end)
    throw new Error(`bench/processes/${file} ended with ${code}`)
  })
  died.catch(() => {})
  const answer = async <T>(): Promise<T> => (await Promise.race([once(child, 'message'), died]))[0] as T
  return {
    answer,
    ask(question: Question): Promise<Answer> {
      const answered = answer<Answer>()
      child.send(question)
      return answered
    },
    async stop() {
      child.disconnect()
      await died.catch(() => {})
    },
  }
}

/** One that does what it is asked and answers. */
export const startWorker = <Question extends object, Answer>(
  file: string,
  env: Environment,
): Child<Question, Answer> => start(file, env)

/** One that listens, and tells what it has used. */
export interface ServerProcess extends Child<Asked, Usage> {
  url: string
}

export interface Asked {
  /** Watch the event loop's turns from now on. */
  watch?: boolean
}

export interface Usage {
  cpuMicroseconds: number
  residentBytes: number
  /** The longest turn of the event loop while it was watched: of the main thread's processor time, and as time passed. */
  turn?: { busyMs: number; passedMs: number }
}

async function startServer(file: string, env: Environment, nodeOptions?: string[]): Promise<ServerProcess> {
  const { answer, ask, stop } = start<Asked, Usage>(file, env, nodeOptions)
  const { url } = await answer<{ url: string }>()
  return { url, ask, stop }
}

/** The service as it runs in production, and the headers of a caller with these claims. */
export async function startService(
  databaseUrl: string,
  claims: JWTPayload,
  { env = {}, nodeOptions = [] }: { env?: Environment; nodeOptions?: string[] } = {},
) {
  const environment = serviceEnvironment(databaseUrl)
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('bench')
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(Buffer.from(environment.JWT_SECRET))
  const server = await startServer('service.ts', { ...environment, ...env }, nodeOptions)
  return { server, headers: { authorization: `Bearer ${token}` } as Record<string, string> }
}

/** The peer of every route that is measured. */
export const startBareRoutes = (databaseUrl: string, env: Environment = {}): Promise<ServerProcess> =>
  startServer('bare-routes.ts', { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: POOL_SIZE, ...env })

/** Called by a server once it listens. */
export function serving(url: string, watched?: (asked: Asked) => Usage['turn']): void {
  working<Asked, Usage>(async asked => {
    const { user, system } = process.cpuUsage()
    return {
      cpuMicroseconds: user + system,
      residentBytes: process.memoryUsage.rss(),
      turn: watched?.(asked),
    }
  })
  process.send?.({ url })
}

/** The same for a job of a queue whose statements may take long. */
export const workingLong = <Question, Answer extends object>(
  answer: (question: Question) => Promise<Answer>,
) => working<Question, Answer>(question => withLongStatements(() => answer(question)))

/** Called by a worker once it can answer. One question at a time; a failed one ends the process. */
export function working<Question, Answer extends object>(
  answer: (question: Question) => Promise<Answer>,
): void {
  process.on('message', async question => process.send?.(await answer(question as Question)))
  process.on('disconnect', () => process.exit(0))
  // The bench may have gone while this was starting.
  if (!process.connected) process.exit(0)
}

/** The most memory the process has held since it started. */
export const peakBytes = (): number => process.resourceUsage().maxRSS * 1024
