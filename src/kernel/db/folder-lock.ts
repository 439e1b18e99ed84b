// One process at a time on an embedded database's folder. PGlite has no such lock, and two processes on one folder
// silently lose acknowledged writes. The lock is a file beside the database folder that names its holder; a holder
// that died (kill -9) is recognised and replaced.
import { randomUUID } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'

interface Holder {
  pid: number
  host: string
  /** When the process started, in the kernel's own ticks: tells a reused pid from the holder. */
  started: string
  nonce: string
}

export class FolderLockedError extends Error {}

const BEAT_MS = 5_000
const SILENT_MS = 30_000
/** Holds a lock that a power cut left empty. */
const NOBODY: Holder = { pid: 0, host: hostname(), started: 'never', nonce: 'unreadable' }

export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'cloudops.lock')
  const me: Holder = {
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
    nonce: randomUUID(),
  }
  const draft = `${file}.${me.nonce}`
  writeFileSync(draft, JSON.stringify(me), { mode: 0o600 })
  try {
    acquire(file, draft, folder)
  } finally {
    rmSync(draft, { force: true })
  }

  // Holders on other hosts (a shared volume) cannot be asked whether they live: the file's age tells.
  const beat = setInterval(() => {
    const now = new Date()
    try {
      utimesSync(file, now, now)
    } catch {
      // Deleted by hand: the next process will take the folder, which is what deleting it asked for.
    }
  }, BEAT_MS).unref()

  return {
    release() {
      clearInterval(beat)
      if (read(file)?.nonce === me.nonce) rmSync(file, { force: true })
    },
  }
}

/** Throws when a living process has the folder. Only looks, and makes nothing. */
export function refuseLockedFolder(folder: string): void {
  refuseIfAlive(join(folder, 'cloudops.lock'), folder)
}

function acquire(file: string, draft: string, folder: string): void {
  while (!linked(draft, file)) {
    const holder = refuseIfAlive(file, folder)
    if (holder && succeed(holder, file, draft, folder)) return
  }
}

/**
 * Replaces a holder that died. Exactly one process may follow a given holder: the one whose link `after-<nonce>` was
 * made. When it dies before it is done, the next follows it in the same way. False: somebody else has been faster.
 */
function succeed(dead: Holder, file: string, draft: string, folder: string): boolean {
  let claim = `${file}.after-${dead.nonce}`
  while (!linked(draft, claim)) {
    const claimant = refuseIfAlive(claim, folder)
    if (!claimant) return false
    claim = `${file}.after-${claimant.nonce}`
  }
  if (read(file)?.nonce !== dead.nonce) {
    rmSync(claim, { force: true })
    return false
  }
  renameSync(draft, file)
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${basename(file)}.after-`)) rmSync(join(folder, name), { force: true })
  }
  return true
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** The holder, who is dead; undefined when the file is gone meanwhile. */
function refuseIfAlive(file: string, folder: string): Holder | undefined {
  const holder = read(file)
  if (!holder || !alive(holder, file)) return holder
  const where = holder.host === hostname() ? '' : ` on host ${holder.host}`
  throw new FolderLockedError(
    `The data folder ${resolve(folder)} is in use by process ${holder.pid}${where}. ` +
      'The embedded database takes one process at a time: stop that one, or set DATABASE_URL to a PostgreSQL.',
  )
}

function alive(holder: Holder, file: string): boolean {
  if (holder.host !== hostname()) return Date.now() - (lastBeat(file) ?? 0) < SILENT_MS
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
  }
  return startOf(holder.pid) === holder.started
}

const lastBeat = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs

function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return NOBODY
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Empty where the system does not say (no /proc): then the pid alone decides. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name, in parentheses, may hold spaces: count fields after it. Field 3 is the state, 22 the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A parent that does not ask after its child (the first process of a container, often) leaves a pid without a process.
    return fields[0] === 'Z' || fields[0] === 'X' ? 'dead' : (fields[19] ?? '')
  } catch {
    return ''
  }
}
