// The service as a process of its own, started the way people start it: `bin/cloudops.js`, an environment, a folder.
// Nothing of this process's environment or of a `.env` file reaches it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JWTPayload } from 'jose'
import { freePort } from '../../scripts/free-port.ts'
import { eventually } from './eventually.ts'
import { type Answer, type Sent, send } from './http.ts'
import type { Owner } from './lasting.ts'
import { dataFolder } from './prepare-databases.ts'
import { SECRET, tokenMaker } from './tokens.ts'

const root = join(import.meta.dirname, '../..')
export const launcher = join(root, 'bin/cloudops.js')

/** What every colour code of a terminal begins with. */
export const COLOUR = '\u001b['

type Environment = Record<string, string | undefined>

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface ServiceOptions {
  env?: Environment
  command?: 'serve' | 'api' | 'worker'
  /** A folder to start on; none: a new one, deleted at the end. */
  dataDir?: string
  /** The program that runs `bin/cloudops.js`. */
  node?: string
  /** That of another release. */
  from?: string
}

export interface Service {
  url: string
  managementUrl: string
  pid: number
  dataDir: string
  /** Everything it wrote so far. */
  output(): string
  /** A platform_admin's, unless the claims say otherwise. */
  token(claims?: JWTPayload): Promise<string>
  /** One request on a connection of its own, as a platform_admin unless a token (or null) is given. */
  call(method: string, path: string, options?: Sent): Promise<Answer>
  ready(): Promise<number>
  stop(signal?: NodeJS.Signals): Promise<Exit>
  kill(): Promise<Exit>
  exited: Promise<Exit>
}

export const secrets = {
  JWT_SECRET: SECRET,
  SECRET_KEY: 'test-secret-key-4c1be09d27f85a63d1',
  SESSION_SIGNING_SALT: 'test-session-salt-9e3b70c4a8d1f652',
}

/** For a start as a newcomer has it: the service makes its own. */
export const noSecrets: Environment = {
  JWT_SECRET: undefined,
  SECRET_KEY: undefined,
  SESSION_SIGNING_SALT: undefined,
}

/** Starts the service and waits until it says it is ready. */
export async function startService(owner: Owner, options: ServiceOptions = {}): Promise<Service> {
  const service = await spawnService(owner, options)
  let gone: Exit | undefined
  service.exited.then(exit => {
    gone = exit
  })
  await eventually('the service is ready', async () => {
    if (gone) throw new Error(`the service ended (${gone.code ?? gone.signal}):\n${service.output()}`)
    const status = await service.ready().catch(() => 0)
    return status === 200
  })
  return service
}

/** Starts the service and waits for nothing. */
export async function spawnService(owner: Owner, options: ServiceOptions = {}): Promise<Service> {
  const {
    command = 'serve',
    env = {},
    dataDir = temporaryFolder(owner),
    node = process.execPath,
    from = launcher,
  } = options
  const [port, managementPort] = [await freePort(), await freePort()]
  // These processes live for seconds: the embedded engine is compiled quickly, not well, which halves a start. An older Node
  // passes no flags on.
  const flags = node === process.execPath ? ['--liftoff-only'] : []
  const child = spawn(node, [...flags, from, command], {
    cwd: dataDir,
    env: environment({
      ...secrets,
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      DATA_DIR: dataDir,
      // A busy machine eats seconds; a test of the limit sets it.
      DATABASE_STATEMENT_SECONDS: '60',
      ...env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // An older Node starts another one; in a group of their own both can be killed.
    detached: node !== process.execPath,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', chunk => {
      output += chunk
    })
  }
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }))
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return exited
  }
  const kill = () => {
    if (node !== process.execPath) process.kill(-child.pid!, 'SIGKILL')
    return stop('SIGKILL')
  }
  owner.after(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill()
  })
  const url = `http://127.0.0.1:${port}`
  const managementUrl = `http://127.0.0.1:${managementPort}`
  const tokens = tokenMaker(() => new Date())
  return {
    url,
    managementUrl,
    pid: child.pid!,
    dataDir,
    output: () => output,
    token: claims => tokens.admin(claims),
    call: async (method, path, { token, ...sent } = {}) =>
      send(method, url + path, {
        agent: false,
        ...sent,
        token: token === undefined ? await tokens.admin() : token,
      }),
    ready: async () => (await send('GET', `${managementUrl}/ready`, { agent: false })).status,
    stop,
    kill,
    exited,
  }
}

export interface CommandResult extends Exit {
  stdout: string
  stderr: string
}

/** Runs `cloudops ARGUMENT…` to its end. */
export async function runCommand(
  args: string[],
  {
    env = {},
    cwd = tmpdir(),
    node = process.execPath,
  }: { env?: Environment; cwd?: string; node?: string } = {},
): Promise<CommandResult> {
  const child = spawn(node, [launcher, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
    killSignal: 'SIGKILL',
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, stdout, stderr }
}

/** Starts `cloudops ARGUMENT…`, a command that goes on until it is killed. */
export function spawnCommand(
  owner: Owner,
  args: string[],
  { env = {}, cwd }: { env?: Environment; cwd: string },
): { kill(): void; exited: Promise<unknown> } {
  const child = spawn(process.execPath, [launcher, ...args], { cwd, env: environment(env), stdio: 'ignore' })
  const exited = once(child, 'close')
  owner.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { kill: () => void child.kill('SIGKILL'), exited }
}

/** A data folder with a migrated database in it, where a test is not about making one. */
export function preparedFolder(owner: Owner): string {
  const folder = temporaryFolder(owner)
  cpSync(join(dataFolder(), 'pglite'), join(folder, 'pglite'), { recursive: true })
  return folder
}

export function temporaryFolder(owner: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-process-'))
  owner.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export const environment = (added: Environment): Environment => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_ENV: 'test',
  ...added,
})
