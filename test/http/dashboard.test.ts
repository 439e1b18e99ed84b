import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildManagement } from '../../src/management.ts'
import { setup } from '../support/setup.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const metricsIn = (text: string) => new Set(text.match(/\bcloudops_[a-z0-9_]+/g))
/** A histogram is exported as its buckets, sum and count. */
const family = (metric: string) => metric.replace(/_(bucket|sum|count)$/, '')

test('every metric that the dashboard shows and the operations page explains is exported, and each of ours is shown and explained', async t => {
  const { ctx } = await setup(t)
  const management = await buildManagement({ ctx, api: undefined, isReady: () => true })
  t.after(() => management.close())
  const { body } = await management.inject({ url: '/metrics', headers: { host: 'localhost' } })
  const exported = new Set([...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!))

  const dashboard = JSON.parse(read('docs/grafana-dashboard.json'))
  const expressions: string[] = dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
    panel.targets.map(target => target.expr),
  )
  const shown = new Set([...metricsIn(expressions.join('\n'))].map(family))
  const explained = new Set([...metricsIn(read('docs/operations.md'))].map(family))
  const ours = [...exported].filter(name => !/^cloudops_(process|nodejs)_/.test(name))
  assert.ok(ours.length > 8)
  for (const name of shown)
    assert.ok(exported.has(name), `the dashboard shows ${name}, which is not exported`)
  for (const name of ours) {
    assert.ok(shown.has(name), `the dashboard does not show ${name}`)
    assert.ok(explained.has(name), `docs/operations.md does not explain ${name}`)
  }
})
