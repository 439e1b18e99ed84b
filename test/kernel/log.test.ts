import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../../src/kernel/log.ts'

test('fields named like secrets are cut out of the log, wherever libraries put them', () => {
  let text = ''
  const log = createLog('info', {
    write: line => {
      text += line
    },
  })
  const secret = 'the-secret-itself'
  const error = Object.assign(new Error('refused'), {
    config: { password: secret },
    headers: { authorization: secret },
    token: secret,
  })
  log.info(
    {
      token: secret,
      password: secret,
      cookie: secret,
      headers: { authorization: secret, 'set-cookie': secret },
    },
    'one',
  )
  log
    .child({ a: 1 })
    .error({ err: error, options: { connectionString: secret }, req: { headers: { cookie: secret } } }, 'two')
  assert.match(text, /"msg":"one"/)
  assert.match(text, /"msg":"two"/)
  assert.match(text, /refused/)
  assert.ok(!text.includes(secret), text)
})
