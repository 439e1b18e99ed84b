// A PostgreSQL cluster to throw away: in a temporary folder, on loopback alone, and not durable unless asked. It can be stopped and
// started again on the same port, for tests of what happens while the database is away.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from './free-port.ts'

export interface ThrowawayPostgres {
  port: number
  url: string
  start(): Promise<void>
  /** `immediate` is a crash: connections are cut, nothing is written down. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Makes a standby the one that is written to. */
  promote(): Promise<void>
  /** Stops it if it runs, and deletes its folder. */
  remove(): Promise<void>
}

export interface ThrowawayOptions {
  /** As PostgreSQL is by default: what is committed survives a power cut. For measuring. */
  durable?: boolean
  /** As `-c` takes them; they win over what is set here. */
  settings?: string[]
  /** A streaming standby of this one, instead of an empty cluster. */
  standbyOf?: ThrowawayPostgres
}

export async function startPostgres({
  durable = false,
  settings: more = [],
  standbyOf,
}: ThrowawayOptions = {}): Promise<ThrowawayPostgres> {
  const binaries = findBinaries()
  if (!binaries) {
    throw new Error(
      'No PostgreSQL server binaries found (looked for initdb on PATH and under /usr/lib/postgresql).\n' +
        'On Debian: apt-get install -y postgresql',
    )
  }
  // PostgreSQL refuses to run as root; Debian's package brings the user it should run as.
  const user = process.getuid?.() === 0 ? accountOf('postgres') : undefined
  const root = mkdtempSync(join(tmpdir(), 'cloudops-pg-'))
  if (user) chownSync(root, user.uid, user.gid)
  const folder = join(root, 'data')
  const port = await freePort()
  const settings = [
    `-c port=${port}`,
    '-c listen_addresses=127.0.0.1',
    `-c unix_socket_directories=${root}`,
    '-c max_connections=300',
    // A throwaway cluster has nothing to lose in a power cut.
    durable ? '' : '-c fsync=off -c synchronous_commit=off -c full_page_writes=off',
    process.env.POSTGRES_SETTINGS ?? '',
    ...more.map(setting => `-c ${setting}`),
  ].join(' ')

  const run = (program: string, args: string[]) =>
    execute(join(binaries, program), args, { ...user, cwd: root })
  const log = join(root, 'log')
  const start = () =>
    run('pg_ctl', ['-D', folder, '-w', '-l', log, '-o', settings, 'start']).catch((error: Error) => {
      const why = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : 'It left no log.'
      throw new Error(`${error.message}\n${why}`)
    })
  const stop = (mode: string) => run('pg_ctl', ['-D', folder, '-m', mode, '-w', 'stop'])
  const promote = () => run('pg_ctl', ['-D', folder, '-w', 'promote'])
  const initialize = () =>
    run('initdb', [
      ...['-D', folder, '-U', 'postgres', '-A', 'trust'],
      ...['-E', 'UTF8', '--locale=C', '--no-sync'],
    ])
  const copy = (from: number) =>
    run('pg_basebackup', [
      ...['-D', folder, '-h', '127.0.0.1', '-p', String(from), '-U', 'postgres'],
      ...['-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'],
    ])
  const remove = async () => {
    if (existsSync(join(folder, 'postmaster.pid'))) await stop('immediate').catch(() => {})
    rmSync(root, { recursive: true, force: true })
  }

  try {
    await (standbyOf ? copy(standbyOf.port) : initialize())
    await start()
  } catch (error) {
    await remove()
    throw error
  }
  return { port, url: `postgres://postgres@127.0.0.1:${port}/postgres`, start, stop, promote, remove }
}

function execute(program: string, args: string[], options: { uid?: number; gid?: number; cwd: string }) {
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', chunk => {
      complaint += chunk
    })
    child.on('error', reject)
    // Not `close`: the server that pg_ctl leaves behind keeps the pipe open.
    child.on('exit', code => {
      child.stderr.destroy()
      if (code === 0) resolve()
      else reject(new Error(`${program} failed: ${complaint || `exit code ${code}`}`))
    })
  })
}

function findBinaries(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const debian = versions.sort((a, b) => Number(b) - Number(a)).map(v => `/usr/lib/postgresql/${v}/bin`)
  const found = [...(process.env.PATH ?? '').split(':'), ...debian].find(
    dir => dir && existsSync(join(dir, 'initdb')),
  )
  // Where links to some of them are, the others need not be.
  return found && dirname(realpathSync(join(found, 'initdb')))
}

function accountOf(name: string): { uid: number; gid: number } {
  const ask = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
  return { uid: ask('-u'), gid: ask('-g') }
}
