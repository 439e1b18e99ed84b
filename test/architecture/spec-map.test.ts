import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const rows = readFileSync(join(root, 'docs/spec-map.md'), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('| ') && !line.startsWith('| Specification'))

test('every path and every test that docs/spec-map.md names exists', () => {
  assert.ok(rows.length > 10)
  for (const row of rows) {
    const [heading, code = '', tests = ''] = row.slice(2, -2).split(' | ')
    for (const [, path] of code.matchAll(/`([^`]+)`/g))
      assert.ok(existsSync(join(root, path!)), `${heading}: ${path}`)
    const named = [...tests.matchAll(/`(test\/[^`]+)` › (.+?)(?=; `test\/|$)/g)]
    assert.ok(named.length > 0, `${heading} names no test`)
    for (const [, path, name] of named) {
      assert.ok(
        readFileSync(join(root, path!), 'utf8').includes(`test('${name!.trim()}'`),
        `${path}: no test “${name}”`,
      )
    }
  }
})
