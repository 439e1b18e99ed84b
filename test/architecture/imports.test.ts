// The arrows of ARCHITECTURE.md, read from the import statements.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map(file => join('src', file))

/** Which features a feature may use, through their index.ts. */
const betweenFeatures: Record<string, string[]> = {
  'audit-log': ['storage-backends', 'webhooks'],
  billing: ['deployments', 'inventory', 'storage-backends', 'webhooks'],
  budgets: ['deployments', 'metering', 'webhooks'],
  deployments: ['subscriptions', 'webhooks'],
  drift: ['inventory', 'webhooks'],
  findings: ['billing', 'deployments', 'inventory', 'provisioning', 'scheduled-tasks', 'webhooks'],
  inventory: ['scheduled-tasks', 'webhooks'],
  sagas: ['webhooks'],
  overview: ['billing', 'dead-letters', 'drift', 'inventory', 'sagas', 'scheduled-tasks'],
  metering: ['inventory', 'subscriptions', 'catalog', 'deployments', 'usage-events', 'webhooks'],
  invitations: ['roles', 'users'],
  subscriptions: ['catalog'],
  'test-clocks': ['budgets', 'metering', 'subscriptions'],
  'usage-events': ['catalog', 'deployments'],
  users: ['api-keys', 'roles'],
  provisioning: ['sagas', 'deployments', 'subscriptions', 'catalog', 'inventory', 'drift'],
}

const roomOf = (file: string): string => {
  const [, first = '', second = ''] = file.split('/')
  if (first === 'features' || first === 'integrations') return `${first}/${second}`
  return first.endsWith('.ts') ? 'top' : first
}

function imports(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(match => relative(root, resolve(root, dirname(file), match[1]!)))
}

function mayImport(from: string, to: string): boolean {
  const [room, target] = [roomOf(from), roomOf(to)]
  if (room === target) return true
  if (room === 'top') return target !== 'cli' || from === 'src/main.ts'
  if (room === 'cli') return true
  if (room === 'kernel') return false
  if (target === 'kernel') return true
  if (room.startsWith('integrations/')) return false
  if (!room.startsWith('features/')) return false
  if (target.startsWith('integrations/')) return to.endsWith('/index.ts')
  if (to === 'src/deps.ts') return true
  const allowed = betweenFeatures[room.slice('features/'.length)] ?? []
  return (
    target.startsWith('features/') &&
    allowed.includes(target.slice('features/'.length)) &&
    to.endsWith('/index.ts')
  )
}

test('imports point down: main, app and worker, features, integrations, kernel', () => {
  const wrong = files.flatMap(from =>
    imports(from)
      .filter(to => !mayImport(from, to))
      .map(to => `${from} → ${to}`),
  )
  assert.deepEqual(wrong, [])
})

test('features are used from above through their index.ts alone', () => {
  const wrong = files
    .filter(from => !roomOf(from).startsWith('features/'))
    .flatMap(from => imports(from).map(to => ({ from, to })))
    .filter(({ to }) => roomOf(to).startsWith('features/') && !to.endsWith('/index.ts'))
  assert.deepEqual(wrong, [])
})

test('config.ts alone reads the environment', () => {
  const readers = files.filter(file =>
    /process\.env|loadEnvFile|parseEnv/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(readers, ['src/config.ts'])
})

test('every file says in its first line what it is about, and none has a name that explains nothing', () => {
  for (const file of files) {
    assert.match(readFileSync(join(root, file), 'utf8'), /^\/\/ \S/, file)
    assert.doesNotMatch(file, /\/(utils?|helpers?|common|misc|types)(\.ts|\/)/)
  }
})

test('all relative imports end in .ts, for nothing is compiled', () => {
  const wrong = files.flatMap(file =>
    imports(file)
      .filter(to => !to.endsWith('.ts'))
      .map(to => `${file} → ${to}`),
  )
  assert.deepEqual(wrong, [])
})

const filesWith = (pattern: RegExp): string[] =>
  files.filter(file => pattern.test(readFileSync(join(root, file), 'utf8'))).sort()

const writes = (table: string) =>
  new RegExp(
    `(insert into|update|delete from|merge into)\\s+${table}\\b|(insertInto|updateTable|deleteFrom|mergeInto)\\('${table}\\b`,
    'i',
  )

test('resources are written in one file alone, and their events there and by the drift sweep', () => {
  assert.deepEqual(filesWith(writes('cloud_resources')), ['src/features/inventory/write-resources.ts'])
  assert.deepEqual(filesWith(writes('cloud_resource_events')), ['src/features/inventory/write-resources.ts'])
  assert.deepEqual(filesWith(writes('resource_versions')), ['src/features/inventory/write-resources.ts'])
})

test('nothing emits tagged and nothing reaches reverted: both are only defined', () => {
  assert.deepEqual(filesWith(/'tagged'/), ['src/features/inventory/resource.ts'])
  assert.deepEqual(filesWith(/'reverted'/), ['src/features/drift/drift.ts'])
})

test('tokens are made for finance and by the development command, and nowhere else', () => {
  assert.deepEqual(filesWith(/\bSignJWT\b/), ['src/cli/token.ts', 'src/integrations/finance/finance.ts'])
})
