// Runs a command with a throwaway PostgreSQL beside it: `node scripts/with-postgres.ts npm test`.
// The cluster lives in a temporary folder, listens on loopback alone, and is gone afterwards. The command
// finds it in TEST_DATABASE_URL.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [command, ...args] = process.argv.slice(2)
if (!command) {
  process.stderr.write('usage: node scripts/with-postgres.ts COMMAND [ARGUMENT…]\n')
  process.exit(2)
}

const binaries = findBinaries()
if (!binaries) {
  process.stderr.write(
    'No PostgreSQL server binaries found (looked for initdb on PATH and under /usr/lib/postgresql).\n' +
      'On Debian: apt-get install -y postgresql\n',
  )
  process.exit(1)
}

// PostgreSQL refuses to run as root; Debian's package brings the user it should run as.
const user = process.getuid?.() === 0 ? accountOf('postgres') : undefined
const root = mkdtempSync(join(tmpdir(), 'cloudops-pg-'))
if (user) chownSync(root, user.uid, user.gid)
const folder = join(root, 'data')
const port = await freePort()

run('initdb', ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
const settings = [
  `-c port=${port}`,
  '-c listen_addresses=127.0.0.1',
  `-c unix_socket_directories=${root}`,
  '-c max_connections=300',
  // A throwaway cluster has nothing to lose in a power cut.
  '-c fsync=off -c synchronous_commit=off -c full_page_writes=off',
  process.env.POSTGRES_SETTINGS ?? '',
]
run('pg_ctl', ['-D', folder, '-w', '-l', join(root, 'log'), '-o', settings.join(' '), 'start'])

const child = spawn(command, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
    TEST_POSTGRES_BIN: binaries,
    TEST_POSTGRES_DATA: folder,
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  spawnSync(join(binaries, 'pg_ctl'), ['-D', folder, '-m', 'immediate', '-w', 'stop'], { ...user, cwd: root })
  rmSync(root, { recursive: true, force: true })
  process.exit(code ?? (signal ? 130 : 1))
})

function run(program: string, programArgs: string[]): void {
  const result = spawnSync(join(binaries!, program), programArgs, {
    ...user,
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (result.status === 0) return
  process.stderr.write(`${program} failed: ${result.stderr || result.error}\n`)
  rmSync(root, { recursive: true, force: true })
  process.exit(1)
}

function findBinaries(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const debian = versions.sort((a, b) => Number(b) - Number(a)).map(v => `/usr/lib/postgresql/${v}/bin`)
  return [...(process.env.PATH ?? '').split(':'), ...debian].find(
    dir => dir && existsSync(join(dir, 'initdb')),
  )
}

function accountOf(name: string): { uid: number; gid: number } {
  const ask = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
  return { uid: ask('-u'), gid: ask('-g') }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
