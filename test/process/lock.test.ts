import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { FolderLockedError, lockFolder } from '../../src/kernel/db/folder-lock.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/process.ts'

const lockModule = new URL('../../src/kernel/db/folder-lock.ts', import.meta.url).href

test(
  'of ten processes that find the lock of a dead one, exactly one gets the folder',
  onEmbeddedAlone,
  async t => {
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
  },
)

test('a holder that is dead, but not yet buried by its parent, is replaced', onEmbeddedAlone, async t => {
  const folder = temporaryFolder(t)
  const program = `
    import { lockFolder } from ${JSON.stringify(lockModule)}
    lockFolder(${JSON.stringify(folder)})
    console.log(process.pid)
    setInterval(() => {}, 1_000)`
  // Whoever is put in the shell's place knows nothing of the child it has.
  const parent = spawn(
    'sh',
    ['-c', '"$0" --input-type=module -e "$1" & exec sleep 60', process.execPath, program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.after(() => parent.kill('SIGKILL'))
  const pid = Number((await createInterface(parent.stdout)[Symbol.asyncIterator]().next()).value)
  assert.throws(() => lockFolder(folder), FolderLockedError)
  process.kill(pid, 'SIGKILL')
  await eventually('it is dead', async () => / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
  lockFolder(folder).release()
})

/** A process that tries to take the folder's lock when told. */
async function contender(
  folder: string,
): Promise<{ child: ChildProcess; compete(): Promise<string | undefined> }> {
  const program = `
    import { lockFolder } from ${JSON.stringify(lockModule)}
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
