import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { buildManagement } from '../../src/management.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'

async function listen(t: Parameters<typeof setup>[0], bundle: Bundle) {
  const state = { ready: true }
  const management = await buildManagement({ ctx: bundle.ctx, api: bundle.app, isReady: () => state.ready })
  const url = await management.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => management.close())
  return { url, state }
}

test('/ready is 200 while the process serves, 503 when it stops or the database does not answer', async t => {
  const bundle = await setup(t)
  const { url, state } = await listen(t, bundle)
  assert.equal((await fetch(`${url}/ready`)).status, 200)
  state.ready = false
  assert.deepEqual(await (await fetch(`${url}/ready`)).json(), {
    ready: false,
    reason: 'starting or stopping',
  })
  state.ready = true
  bundle.ctx.engine.ping = () => Promise.reject(new Error('gone'))
  assert.equal((await fetch(`${url}/ready`)).status, 503)
})

test('/metrics speaks Prometheus and counts requests by route', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  await bundle.call('GET', '/api/v1/admin/scheduled_tasks/housekeeping')
  const answer = await fetch(`${url}/metrics`)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  const text = await answer.text()
  assert.match(
    text,
    /cloudops_http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/admin\/scheduled_tasks\/:name",status="200"\} 1/,
  )
  assert.match(text, /cloudops_queue_jobs\{queue="provisioning",state="ready"\} 0/)
  assert.match(text, /cloudops_dead_letters 0/)
})

test('/openapi.json describes the API, and /docs is a page that loads nothing from elsewhere', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
  assert.ok('/api/health' in description.paths)
  const page = await (await fetch(`${url}/docs`)).text()
  assert.match(page, /<html|<!doctype html>/i)
  const loaded = [...page.matchAll(/<(?:script|link|img|iframe)[^>]+(?:src|href)="([^"]+)"/g)].map(
    match => match[1]!,
  )
  assert.ok(loaded.length > 0)
  for (const address of loaded) assert.equal(new URL(address, `${url}/docs/`).origin, url, address)
})

test('any caller reads the API’s description with a token, the same that the management listener serves', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { url } = await listen(t, bundle)
  const open = await (await fetch(`${url}/openapi.json`)).json()
  const role = { name: 'nothing', permissions: [] }
  assert.equal((await call('POST', '/api/v1/admin/roles', { body: role })).status, 201)
  for (const token of [
    await tokens.admin(),
    await tokens.tenant('acme'),
    await tokens.tenant('acme', { role: 'nothing' }),
  ]) {
    const { status, headers, body } = await call('GET', '/api/v1/openapi.json', { token })
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(body, open)
  }
  assert.equal((await call('GET', '/api/v1/openapi.json', { token: null })).status, 401)
})

test('the reference page can call the API from its own origin, with a token', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  assert.equal((await fetch(`${url}/api/v1/session`)).status, 401)
  const authorization = `Bearer ${await bundle.tokens.admin()}`
  const paused = await fetch(`${url}/api/v1/admin/scheduled_tasks/housekeeping/pause`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(paused.status, 200)
})

test('its answers carry the security headers of the API, and the page may run its own scripts alone', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  const names = ['x-content-type-options', 'x-frame-options', 'referrer-policy', 'cache-control']
  const api = await fetch(`${bundle.url}/api/v1/session`)
  const expected = names.map(name => api.headers.get(name))
  assert.deepEqual(expected, ['nosniff', 'SAMEORIGIN', 'no-referrer', 'no-store'])
  for (const path of ['/ready', '/metrics', '/openapi.json', '/docs/', '/docs', '/cops_nowhere', '/%zz']) {
    const { headers } = await fetch(url + path, { redirect: 'manual' })
    const seen = names.map(name => headers.get(name))
    assert.deepEqual(seen, expected, path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/, path)
    assert.match(policy, /frame-ancestors 'none'/, path)
    assert.doesNotMatch(policy, /script-src[^;]*'unsafe/, path)
  }
  const page = await fetch(`${url}/docs/`)
  const inline = /<script type[^>]*>([\s\S]*?)<\/script>/.exec(await page.text())![1]!
  const hash = createHash('sha256').update(inline).digest('base64')
  assert.ok(page.headers.get('content-security-policy')?.includes(`'sha256-${hash}'`))
  assert.ok(!bundle.logged().includes('cops_nowhere'))
})

test('the console answers to every address that is asked for as a page, and nothing in it is inline', async t => {
  const { url } = await listen(t, await setup(t))
  const headers = { accept: 'text/html,*/*;q=0.8' }
  for (const path of ['/', '/inventory', '/inventory/x.y']) {
    const answer = await fetch(url + path, { headers })
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers.get('content-security-policy')!, /^default-src 'self'; /)
    assert.doesNotMatch(answer.headers.get('content-security-policy')!, /unsafe|data:|\*/)
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    assert.doesNotMatch(
      await answer.text(),
      /<style|<script(?! type="module" crossorigin src="\/assets\/)|style=| on\w+=/,
    )
  }
  for (const path of ['/inventory', '/assets/nothing.js', '/assets/..%2findex.html', '/package.json'])
    assert.equal((await fetch(url + path)).status, 404, path)
  for (const path of ['/assets/nothing.js', '/api/nothing'])
    assert.notEqual((await fetch(url + path, { headers })).status, 200, path)
})

test('the console’s files are kept by browsers for good, and sent compressed', async t => {
  const { url } = await listen(t, await setup(t))
  const page = await (await fetch(`${url}/`)).text()
  const [, script] = /src="(\/assets\/[^"]+)"/.exec(page)!
  const answer = await fetch(url + script)
  assert.deepEqual(
    ['content-type', 'content-encoding', 'cache-control'].map(name => answer.headers.get(name)),
    ['text/javascript; charset=utf-8', 'gzip', 'public, max-age=31536000, immutable'],
  )
  const plain = await fetch(url + script, { headers: { 'accept-encoding': 'identity' } })
  assert.equal(await plain.text(), await answer.text())
})

test('with the session cookie a page of this listener may write, and a page from anywhere else may not', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  const authorization = `Bearer ${await bundle.tokens.admin()}`
  const started = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { authorization, origin: url },
  })
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const pause = async (origin?: string) => {
    const headers = { cookie, ...(origin && { origin }) }
    const path = '/api/v1/admin/scheduled_tasks/housekeeping/pause'
    const answer = await fetch(url + path, { method: 'POST', headers })
    return [answer.status, answer.headers.get('access-control-allow-origin')]
  }
  assert.deepEqual(await pause(url), [200, null])
  const { port } = new URL(url)
  for (const origin of [
    undefined,
    'null',
    'https://evil.test',
    `http://localhost:${port}`,
    `https://127.0.0.1:${port}`,
  ])
    assert.deepEqual(await pause(origin), [403, null], origin)
  assert.deepEqual(await pause('http://localhost:5173'), [200, 'http://localhost:5173'])
})

test('a large download is made as fast as it is read here, and no longer made when nobody reads it', async t => {
  const piece = 'x'.repeat(64 * 1024)
  let [made, ended] = [0, false]
  function* endless() {
    try {
      for (; ; made++) yield piece
    } finally {
      ended = true
    }
  }
  const path = '/api/v1/endless'
  const bundle = await setup(t, {
    extend: app =>
      app.get(path, { config: { guard: 'caller', permission: false } }, (_request, reply) =>
        reply.type('text/csv').send(Readable.from(endless())),
      ),
  })
  const { url } = await listen(t, bundle)
  const headers = { authorization: `Bearer ${await bundle.tokens.admin()}` }
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    request(url + path, { headers }, resolve)
      .on('error', reject)
      .end(),
  )
  assert.equal(answer.headers['transfer-encoding'], 'chunked')
  // Until buffers of both ends are full: then nothing more is made, however long nobody reads.
  const seen: number[] = []
  await eventually('it waits for its reader', async () => {
    seen.push(made)
    return made > 0 && seen.at(-5) === made
  })
  assert.ok(made * piece.length < 64 * 1024 * 1024, `${made} pieces were made for nobody`)
  let left = 2 * made * piece.length
  for await (const chunk of answer) {
    left -= chunk.length
    if (left < 0) break
  }
  await eventually('it is no longer made', async () => ended)
})

test('a connection that a browser has opened and not used does not hold up the end', async t => {
  const { ctx, app } = await setup(t)
  const management = await buildManagement({ ctx, api: app, isReady: () => true })
  const { port } = new URL(await management.listen({ host: '127.0.0.1', port: 0 }))
  const unused = connect(Number(port), '127.0.0.1')
  const ended = once(unused, 'close')
  await once(unused, 'connect')
  await management.close()
  await ended
})

test('a name that merely resolves to loopback is refused', async t => {
  const bundle = await setup(t)
  const { url } = await listen(t, bundle)
  for (const path of ['/metrics', '/', '/inventory', '/api/v1/session']) {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: 'evil.example.com', accept: 'text/html' }
      request(url + path, { headers }, answer => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end()
    })
    assert.equal(status, 403, path)
  }
})
