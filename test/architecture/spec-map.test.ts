// docs/spec-map.md says of every sentence of the specification where its code and its test are. Here: that it does.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** The specification's headings, in its order; `-` for those with nothing of their own but what is below them. */
const HEADINGS = `
  ## What the service does
  ## Resources and their fields
  ### Deployment (cloud_deployments)
  ### Deployment event (cloud_deployment_events)
  ### Subscription
  ### Subscription addon (subscription_addons)
  ### Catalog
  ### Project (cloud_projects)
  ### Resource (cloud_resources)
  ### Resource event (cloud_resource_events)
  ### Provisioned desired state (cloud_provisioned)
  ### Drift (cloud_drift)
  ### Saga run (saga_runs)
  ### Saga step result (saga_step_results)
  ### Step contract
  ### Billing records
  - ## States and transitions
  ### Deployment
  ### Subscription
  ### Plan version
  ### Resource inventory lifecycle
  ### Drift
  ### Saga run
  ## Endpoints
  ### Public
  ### Inventory
  ### Deployments
  ### Catalog
  ### Drift (platform_admin only)
  ### Billing (platform_admin only)
  ### Outbound call to the finance service
  ### Background jobs
  ### Per-user API keys (platform user-management interface)
  ## Authentication
  ## Events
  ## Errors
  ## Limits
  ## Versioning`
  .trim()
  .split(/\n\s*/)

interface Section {
  heading: string
  rows: string[]
}

const sections: Section[] = []
for (const line of readFileSync(join(root, 'docs/spec-map.md'), 'utf8').split('\n')) {
  if (/^##+ /.test(line)) sections.push({ heading: line, rows: [] })
  else if (line.startsWith('| ') && !line.startsWith('| Specification')) sections.at(-1)!.rows.push(line)
}

test('docs/spec-map.md has every heading of the specification, in its order, and rows under each', () => {
  assert.deepEqual(
    sections.map(({ heading, rows }) => (rows.length > 0 ? heading : `- ${heading}`)),
    HEADINGS,
  )
})

test('every path and every test that docs/spec-map.md names exists', () => {
  for (const { heading, rows } of sections) {
    for (const row of rows) {
      const columns = row.slice(2, -2).split(' | ')
      assert.equal(columns.length, 3, row)
      const [words, code, tests] = columns as [string, string, string]
      const where = `${heading}, ${words}`
      const paths = [...code.matchAll(/`([^`]+)`/g)].map(([, path]) => path!)
      const notBuilt = code === '**not built**'
      assert.ok(paths.length > 0 || notBuilt, `${where}: neither code nor “not built”`)
      for (const path of paths) assert.ok(existsSync(join(root, path)), `${where}: ${path}`)
      const named = [...tests.matchAll(/`(test\/[^`]+)` › (.+?)(?=; `test\/|$)/g)]
      assert.ok(named.length > 0 || notBuilt, `${where} names no test`)
      for (const [, path, name] of named) {
        const text = readFileSync(join(root, path!), 'utf8').replaceAll(/test\(\s+'/g, "test('")
        assert.ok(text.includes(`test('${name!.trim()}'`), `${where}: no test “${name}” in ${path}`)
      }
    }
  }
})
