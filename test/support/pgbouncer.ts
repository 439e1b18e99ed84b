// PgBouncer in transaction mode with its defaults, in front of a test's database; gone afterwards.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/free-port.ts'
import { needsPostgres } from './engine.ts'
import { eventually } from './eventually.ts'
import type { Owner } from './lasting.ts'

const found = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })

/** Its version, or undefined where it is not installed. */
export const pgbouncerVersion = found.error ? undefined : /\d+\.\d+/.exec(found.stdout)?.[0]

export const needsPgbouncer = {
  skip: needsPostgres.skip || (pgbouncerVersion === undefined && 'PgBouncer is not installed'),
}

/** The address of the same database behind a PgBouncer that was started for it. */
export async function startPgbouncer(owner: Owner, databaseUrl: string, settings: string[] = []) {
  const { hostname, port: serverPort, username, pathname } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-pgbouncer-'))
  const port = await freePort()
  const users = join(folder, 'users')
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(users, `"${username}" ""\n`)
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      ...settings,
      '',
    ].join('\n'),
  )
  // It refuses to run as root.
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {}
  if (user.uid !== undefined) {
    for (const path of [folder, users, file]) chownSync(path, user.uid, user.gid)
  }
  const child = spawn('pgbouncer', ['--quiet', file], { ...user, stdio: 'ignore' })
  owner.after(async () => {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    rmSync(folder, { recursive: true, force: true })
  })
  await eventually('PgBouncer listens', () => listens(port))
  return `postgres://${username}@127.0.0.1:${port}${pathname}`
}

const listens = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false)).on('connect', () => resolve(socket.destroy() !== undefined))
  })
