import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { onEmbeddedAlone } from '../support/engine.ts'

test('the console is at most 150 KB, compressed, in all', onEmbeddedAlone, () => {
  const dist = join(import.meta.dirname, '../../console/dist')
  const compressed = readdirSync(join(dist, 'assets')).filter(file => file.endsWith('.gz'))
  const sizes = compressed.map(file => statSync(join(dist, 'assets', file)).size)
  const total = sizes.reduce((sum, size) => sum + size, statSync(join(dist, 'index.html')).size)
  assert.ok(total > 10_000 && total <= 150_000, `${total} bytes`)
})
