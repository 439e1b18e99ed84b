import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { preparedFolder, type Service, startService, temporaryFolder } from '../support/process.ts'

/** Twenty were run by hand; one keeps `npm test` short. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 1)
const task = '/api/v1/admin/scheduled_tasks/housekeeping'

test('killed in the middle of writes it starts again each time, and nothing acknowledged is lost', async t => {
  const dataDir = preparedFolder(t)
  const written: Written = { pausedBy: new Set([null]), runs: new Set() }
  let acknowledged = 0
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startService(t, { dataDir, env: { LOG_LEVEL: 'warn' } })
    await everythingIsThere(service, written)
    const writers = [pauseAndResume(service, written, `round-${round}`), requestRuns(service, written)]
    const enough = 15 + Math.floor(Math.random() * 30)
    const counts = Promise.all(writers.map(writer => writer.until(enough)))
    await Promise.race(writers.map(writer => writer.reached))
    assert.deepEqual(await service.kill(), { code: null, signal: 'SIGKILL' })
    for (const count of await counts) acknowledged += count
  }
  const service = await startService(t, { dataDir })
  await everythingIsThere(service, written)
  t.diagnostic(`${ROUNDS} kills, ${acknowledged} writes acknowledged, ${written.runs.size} of them runs`)
  assert.equal((await service.stop()).code, 0)
})

interface Written {
  /** Whose pause may stand: the last that was acknowledged, and the one that was under way when the process died. */
  pausedBy: Set<string | null>
  runs: Set<string>
}

async function everythingIsThere(service: Service, written: Written): Promise<void> {
  const { body } = await service.call('GET', task)
  assert.ok(written.pausedBy.has(body.data.paused_by), `paused by ${body.data.paused_by}`)
  for (const id of written.runs) {
    assert.equal((await service.call('GET', `${task}/runs/${id}`)).status, 200, `run ${id} is there`)
  }
}

interface Writer {
  /** Resolves when the writer has had so many acknowledged. */
  reached: Promise<void>
  /** Writes until the process dies; how many writes were acknowledged. */
  until(enough: number): Promise<number>
}

function writer(write: (n: number) => Promise<boolean>): Writer {
  const reached = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    async until(enough) {
      let acknowledged = 0
      for (let n = 0; ; n++) {
        try {
          if (await write(n)) acknowledged++
        } catch {
          return acknowledged
        }
        if (acknowledged >= enough) reached.resolve()
      }
    },
  }
}

function pauseAndResume(service: Service, written: Written, round: string): Writer {
  return writer(async n => {
    const pausing = n % 2 === 0
    const by = pausing ? `${round}-${n}` : null
    written.pausedBy.add(by)
    const token = await service.token({ sub: by ?? round })
    const { status, body } = await service.call('POST', `${task}/${pausing ? 'pause' : 'resume'}`, { token })
    assert.equal(status, 200)
    // The first write of a round may meet a pause that the round before left standing; that one stays.
    written.pausedBy = new Set([body.data.paused_by])
    return true
  })
}

function requestRuns(service: Service, written: Written): Writer {
  return writer(async () => {
    const { status, body } = await service.call('POST', `${task}/run`)
    if (status === 202) written.runs.add(body.data.id)
    // The run before is not done yet, or died with its process and is not known to be dead yet.
    else await pause(20)
    return status === 202
  })
}

test('of ten processes that find the lock of a dead one, exactly one gets the folder', async t => {
  const folder = temporaryFolder(t)
  const lock = join(folder, 'cloudops.lock')
  let contenders = await Promise.all(Array.from({ length: 10 }, () => contender(folder)))
  t.after(() => {
    for (const { child } of contenders) child.kill('SIGKILL')
  })
  for (let round = 0; round < 5; round++) {
    const outcomes = await Promise.all(contenders.map(one => one.compete()))
    const winners = contenders.filter((_, index) => outcomes[index] === 'won')
    assert.equal(winners.length, 1, `round ${round}: ${outcomes.join(', ')}`)
    const dead = winners[0]!.child
    dead.kill('SIGKILL')
    await once(dead, 'exit')
    contenders = contenders.filter(({ child }) => child !== dead)
    // In every other round somebody died while taking the lock over, too.
    if (round % 2 === 0) {
      const holder = JSON.parse(readFileSync(lock, 'utf8'))
      writeFileSync(`${lock}.after-${holder.nonce}`, JSON.stringify({ ...holder, nonce: `heir-${round}` }))
    }
  }
})

/** A process that tries to take the folder's lock when told. */
async function contender(
  folder: string,
): Promise<{ child: ChildProcess; compete(): Promise<string | undefined> }> {
  const module = new URL('../../src/kernel/db/folder-lock.ts', import.meta.url).href
  const program = `
    import { lockFolder } from ${JSON.stringify(module)}
    process.stdin.on('data', () => {
      try { lockFolder(${JSON.stringify(folder)}); console.log('won') }
      catch (error) { console.log(error.constructor.name === 'FolderLockedError' ? 'refused' : String(error)) }
    })
    console.log('here')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return {
    child,
    async compete() {
      child.stdin.write('go\n')
      return (await lines.next()).value
    },
  }
}
