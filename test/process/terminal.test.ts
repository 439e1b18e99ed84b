import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { freePort } from '../../scripts/free-port.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { lasting } from '../support/lasting.ts'
import { environment, launcher, preparedFolder } from '../support/process.ts'

// util-linux's, which gives a program a terminal of its own.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')
const withTerminal = hasScript ? onEmbeddedAlone : { skip: 'needs the script command of util-linux' }

/** Starts the service on a terminal, and waits for what it says last. */
async function onTerminal(t: TestContext, env: Record<string, string> = {}) {
  const owner = lasting(t)
  const DATA_DIR = preparedFolder(owner)
  const [PORT, MANAGEMENT_PORT] = [String(await freePort()), String(await freePort())]
  const child = spawn(
    'script',
    ['-qec', `'${process.execPath}' --liftoff-only '${launcher}' serve`, '/dev/null'],
    {
      cwd: DATA_DIR,
      env: environment({ DATA_DIR, PORT, MANAGEMENT_PORT, NODE_ENV: undefined, ...env }),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    output += chunk
  })
  const exited = once(child, 'close')
  const stop = async () => {
    process.kill(JSON.parse(readFileSync(join(DATA_DIR, 'cloudops.lock'), 'utf8')).pid)
    await exited
  }
  owner.after(() => child.exitCode === null && stop())
  const lines = () => stripVTControlCharacters(output).replaceAll('\r', '').trimEnd().split('\n')
  await eventually('the call to try is shown', async () => lines().some(line => line.startsWith('curl ')))
  return { PORT, MANAGEMENT_PORT, lines, stop }
}

test(
  'on a terminal a start says in plain lines what it does, and ends with a link and a call that work',
  withTerminal,
  async t => {
    const { PORT, MANAGEMENT_PORT, lines, stop } = await onTerminal(t)
    assert.match(lines()[0]!, /^Starting the Cloud Operations Service /)
    assert.ok(lines().some(line => /^\d\d:\d\d:\d\d {2}opening the database \(engine: pglite\)$/.test(line)))
    assert.deepEqual(
      lines().filter(line => line.startsWith('{')),
      [],
    )
    const [link, , , call] = lines().slice(-4)
    const [address, token] = link!.split('/#token=')
    assert.equal(address, `http://localhost:${MANAGEMENT_PORT}`)
    assert.equal(call, `curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${PORT}/api/v1/inventory`)
    const session = `http://127.0.0.1:${PORT}/api/v1/session`
    assert.equal((await send('GET', session, { token: token!, agent: false })).status, 200)

    await stop()
    assert.match(lines().at(-1)!, / {2}stopped$/)
    assert.ok(!lines().some(line => line.includes('/api/v1/session')), 'requests are shown when asked for')
  },
)

test('on a terminal LOG_LEVEL says how much is shown', withTerminal, async t => {
  const { PORT, lines } = await onTerminal(t, { LOG_LEVEL: 'info' })
  await send('GET', `http://127.0.0.1:${PORT}/api/v1/session`, { agent: false })
  await eventually('the request is shown', async () => lines().some(line => line.includes('/api/v1/session')))
})
