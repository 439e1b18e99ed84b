// A noun is declared once: a field added to its declaration and its table appears wherever the noun does.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { onPostgresAlone } from '../support/engine.ts'

const here = join(import.meta.dirname, 'nouns')

test(
  'a field added to ten declarations and their tables is in lists, details, webhooks, audit entries and the API’s description',
  onPostgresAlone,
  async () => {
    // A process of its own: declarations are read when the service is loaded.
    const args = ['--import', join(here, 'add-field.ts'), join(here, 'added-field.ts')]
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT'),
    )
    const done = await promisify(execFile)(process.execPath, args, { env }).catch(error => error)
    assert.match(done.stdout, /# pass 1|pass 1/, done.stdout + done.stderr)
    assert.equal(done.code, undefined, done.stdout)
  },
)

test('no source spells a noun’s JSON by hand, or glues JSON together', () => {
  const root = join(import.meta.dirname, '../../src')
  const spelled = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    file =>
      file.endsWith('.ts') &&
      /json_build_object\(\s*'id'|\.slice\(0, -1\)\}/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(spelled, [])
})
