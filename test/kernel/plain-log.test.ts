import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createLog } from '../../src/kernel/log.ts'
import { plainLog } from '../../src/kernel/plain-log.ts'

function setup() {
  let text = ''
  const plain = plainLog(more => {
    text += more
  })
  const lines = () => stripVTControlCharacters(text).trimEnd().split('\n')
  return { plain, log: createLog('info', plain), lines, raw: () => text }
}

test('a line is the time, what happened and what it is about', () => {
  const { log, lines } = setup()
  log.info('stopped')
  log.warn({ url: 'http://127.0.0.1:4007', retry: null, names: ['a', 'b'] }, 'simulated')
  log.info({ migrations: ['one', 'two', 'three', 'four'], limit: { rows: 3 } }, 'database migrated')
  const [stopped, simulated, migrated] = lines().map(line => line.replace(/^\d\d:\d\d:\d\d {2}/, ''))
  assert.equal(stopped, 'stopped')
  assert.equal(simulated, 'simulated (url: http://127.0.0.1:4007, names: a b)')
  assert.equal(migrated, 'database migrated (migrations: 4, limit: {"rows":3})')
})

test('an error is shown with its stack', () => {
  const { log, lines } = setup()
  log.error({ err: new Error('the disk is full') }, 'not written')
  assert.match(lines()[0]!, / {2}not written$/)
  assert.equal(lines()[1], '  Error: the disk is full')
  assert.match(lines()[2]!, /^ {6}at /)
})

test('what is quiet shows warnings alone, until it is not', () => {
  const { plain, log, lines } = setup()
  plain.quiet(true)
  log.info('a job')
  log.warn('a warning')
  plain.quiet(false)
  log.info('stopping')
  assert.deepEqual(
    lines().map(line => line.slice(10)),
    ['a warning', 'stopping'],
  )
})

test('neither control codes nor credentials reach the terminal', () => {
  const { log, raw, lines } = setup()
  const token = 'dop_v1_0123456789abcdef'
  log.info({ name: '\u001b]0;title\u0007\u009b2J\u202egnp', key: token }, 'saw \u001b[2J\nnew line')
  assert.ok(!raw().includes('\u001b]') && !raw().includes('\u001b[2J') && !raw().includes('\u009b'))
  assert.ok(!raw().includes('\u202e') && !raw().includes(token))
  assert.equal(lines().length, 1)
})
