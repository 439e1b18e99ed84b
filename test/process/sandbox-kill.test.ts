import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SANDBOX_TOKEN } from '../../sandbox/main.ts'
import { freePort } from '../../scripts/free-port.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { spawnCommand, temporaryFolder } from '../support/process.ts'

test(
  'the sandbox that is killed knows everything it has acknowledged when it starts again',
  onEmbeddedAlone,
  async t => {
    const dataDir = temporaryFolder(t)
    const port = await freePort()
    const call = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${SANDBOX_TOKEN}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      })
      return (await answer.json()) as { droplets: { id: number }[]; droplet: { id: number } }
    }
    const start = async () => {
      const process = spawnCommand(t, ['sandbox', '--provider-port', String(port), '--finance-port', '0'], {
        env: { DATA_DIR: dataDir },
        cwd: dataDir,
      })
      await eventually('the sandbox answers', () => call('GET', '/v2/account').then(Boolean, () => false))
      return process
    }

    const first = await start()
    const made: number[] = []
    const write = async () => {
      for (let n = 1; ; n++) {
        const order = { name: `kept-${n}`, size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' }
        made.push((await call('POST', '/v2/droplets', order)).droplet.id)
        if (n === 20) first.kill()
      }
    }
    await assert.rejects(write())
    await first.exited
    await start()
    const { droplets } = await call('GET', '/v2/droplets?per_page=200')
    const ids = new Set(droplets.map(({ id }) => id))
    assert.ok(made.length >= 20)
    assert.deepEqual(
      made.filter(id => !ids.has(id)),
      [],
    )
  },
)
