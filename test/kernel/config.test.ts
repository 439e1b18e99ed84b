import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig, shown, type VariableName, variables } from '../../src/config.ts'
import { testEnvironment } from '../support/setup.ts'

const strong = {
  NODE_ENV: 'production',
  JWT_SECRET: 'q7Zk2pV9xR4mT8wB1nC6yD3fG5hJ0sLa',
  SECRET_KEY: 'b1N6yD3fG5hJ0sLaq7Zk2pV9xR4mT8wC',
  SESSION_SIGNING_SALT: 'R4mT8wB1nC6yD3fG5hJ0sLaq7Zk2pV9x',
}

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('without any variable the contract’s defaults hold', t => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { config } = readConfig({ DATA_DIR: folder })
  assert.equal(config.PORT, 4005)
  assert.equal(config.HOST, '127.0.0.1')
  assert.equal(config.MANAGEMENT_PORT, 4006)
  assert.equal(config.DATABASE_URL, undefined)
  assert.equal(config.JWT_TENANT_CLAIM, 'tenant_id')
  assert.equal(config.JWT_ROLE_CLAIM, 'role')
  assert.equal(config.DEV_ORIGIN, 'http://localhost:5173')
  assert.equal(config.DIGITALOCEAN_API_URL, 'https://api.digitalocean.com')
  assert.equal(config.WEBHOOKS_ALLOW_PRIVATE, false)
  assert.equal(config.PLATFORM_TENANT_ID, 'platform')
  assert.equal(config.RATE_LIMIT_PER_MINUTE, 6000)
  assert.equal(config.LOG_LEVEL, 'info')
  assert.equal(config.NODE_ENV, 'development')
})

test('secrets are generated once into DATA_DIR, readable by their owner alone, and reused', t => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const first = readConfig({ DATA_DIR: folder })
  const second = readConfig({ DATA_DIR: folder })
  assert.equal(first.sources.JWT_SECRET, 'generated')
  assert.deepEqual(first.config.JWT_SECRET, second.config.JWT_SECRET)
  assert.notEqual(first.config.SECRET_KEY, first.config.SESSION_SIGNING_SALT)
  assert.equal(statSync(join(folder, 'development-secrets.json')).mode & 0o077, 0)
})

test('every problem is reported at once, with the variable’s name and how to mend it', () => {
  const problems = problemsOf({
    PORT: '70000',
    MANAGEMENT_PORT: 'x',
    DATABASE_URL: 'mysql://x',
    JWT_SECRET: 'short',
    DEV_ORIGIN: 'http://localhost:5173/path',
    ALLOWED_ORIGIN_DOMAIN: 'https://example.com',
    FINANCE_URL: 'ftp://finance',
    WEBHOOKS_ALLOW_PRIVATE: 'yes',
    LOG_LEVEL: 'loud',
    NODE_ENV: 'staging',
  })
  const names = [
    'PORT',
    'MANAGEMENT_PORT',
    'DATABASE_URL',
    'JWT_SECRET',
    'DEV_ORIGIN',
    'ALLOWED_ORIGIN_DOMAIN',
    'FINANCE_URL',
    'WEBHOOKS_ALLOW_PRIVATE',
    'LOG_LEVEL',
    'NODE_ENV',
  ]
  assert.deepEqual(
    problems.map(problem => problem.split(' ')[0]),
    names,
  )
  assert.ok(problems.find(problem => problem.startsWith('JWT_SECRET'))?.includes('openssl rand'))
})

test('production refuses missing secrets, each by name', () => {
  const problems = problemsOf({ NODE_ENV: 'production' })
  assert.deepEqual(
    problems.map(problem => problem.split(' ')[0]),
    ['JWT_SECRET', 'SECRET_KEY', 'SESSION_SIGNING_SALT'],
  )
})

test('production refuses weak secrets and accepts strong ones', () => {
  assert.deepEqual(problemsOf(strong), [])
  const weak = [
    'a'.repeat(40),
    'changeme-changeme-changeme-changeme',
    'abababababababababababababababababab',
    'put-your-secret-here-1234567890-abcd',
  ]
  for (const JWT_SECRET of weak) assert.equal(problemsOf({ ...strong, JWT_SECRET }).length, 1, JWT_SECRET)
  assert.equal(problemsOf({ ...strong, JWT_SECRET: `${strong.JWT_SECRET},${'b'.repeat(40)}` }).length, 1)
  assert.equal(problemsOf({ ...strong, SECRET_KEY: 'short' }).length, 1)
  assert.equal(problemsOf({ ...strong, DIGITALOCEAN_API_URL: 'http://api.digitalocean.com' }).length, 1)
})

test('each of several secrets in rotation must be 32 bytes, and none may be empty', () => {
  assert.deepEqual(
    readConfig({ ...strong, JWT_SECRET: `${strong.JWT_SECRET} , ${strong.SECRET_KEY}` }).config.JWT_SECRET,
    [strong.JWT_SECRET, strong.SECRET_KEY],
  )
  assert.equal(problemsOf({ ...strong, JWT_SECRET: `${strong.JWT_SECRET},short` }).length, 1)
  assert.equal(problemsOf({ ...strong, JWT_SECRET: `${strong.JWT_SECRET},` }).length, 1)
})

test('proxies are named by address or range, and what is neither is refused', () => {
  const of = (TRUSTED_PROXIES: string) =>
    readConfig({ ...testEnvironment, TRUSTED_PROXIES }).config.TRUSTED_PROXIES
  assert.deepEqual(of('10.0.0.5'), ['10.0.0.5'])
  assert.deepEqual(of('10.0.0.0/8, ::1/128,10.0.0.0/32'), ['10.0.0.0/8', '::1/128', '10.0.0.0/32'])
  for (const wrong of [
    'proxy',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.5,',
    '10.0.0/8',
    'true',
  ])
    assert.equal(problemsOf({ ...testEnvironment, TRUSTED_PROXIES: wrong }).length, 1, wrong)
})

test('a blank variable counts as not set, and the environment goes before .env', () => {
  const { config, sources } = readConfig(
    { ...testEnvironment, PORT: ' ', HOST: '0.0.0.0' },
    { PORT: '5000', HOST: '::1' },
  )
  assert.equal(config.PORT, 5000)
  assert.equal(sources.PORT, '.env')
  assert.equal(config.HOST, '0.0.0.0')
  assert.equal(sources.HOST, 'environment')
})

test('what is shown of the configuration holds no secret', () => {
  const env = {
    ...testEnvironment,
    DATABASE_URL: 'postgres://app:p%40ss-word@db:5432/x?password=other-pass',
    DIGITALOCEAN_TOKEN: 'dop_v1_token',
    FINANCE_JWT_SECRET: 'finance-secret-of-thirty-two-bytes-x',
    CLOUDOPS_TOKEN: 'cli-token',
  }
  const { config } = readConfig(env)
  const text = (Object.keys(variables) as VariableName[]).map(name => shown(name, config)).join('\n')
  const secrets = [
    ...testEnvironment.JWT_SECRET.split(','),
    testEnvironment.SECRET_KEY,
    testEnvironment.SESSION_SIGNING_SALT,
    'p%40ss-word',
    'p@ss-word',
    'other-pass',
    'dop_v1_token',
    env.FINANCE_JWT_SECRET,
    'cli-token',
  ]
  for (const secret of secrets) assert.ok(!text.includes(secret), secret)
  assert.ok(text.includes('app:********@db:5432'))
})

test('docs/operations.md describes every variable with its default', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  for (const [name, { fallback, meaning }] of Object.entries<{ fallback?: string; meaning: string }>(
    variables,
  )) {
    assert.ok(docs.includes(`| \`${name}\` | ${fallback ?? 'none'} | ${meaning} |`), name)
  }
})
