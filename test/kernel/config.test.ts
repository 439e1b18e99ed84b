import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig, shown, type VariableName, variables } from '../../src/config.ts'
import { testEnvironment } from '../support/setup.ts'

const strong = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://ops:w0rt-geheim@db.internal/cloudops',
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
    ['DATABASE_URL', 'JWT_SECRET', 'SECRET_KEY', 'SESSION_SIGNING_SALT'],
  )
})

test('production refuses the embedded database, for every reason it could come about', () => {
  const { DATABASE_URL: _, ...without } = strong
  const missing = 'DATABASE_URL must be set in production: the embedded database is for trying'
  assert.deepEqual(problemsOf(without), [missing])
  assert.deepEqual(problemsOf({ ...without, DATABASE_URL: ' ' }), [missing])
  assert.deepEqual(problemsOf({ ...without, DATBASE_URL: strong.DATABASE_URL }), [
    missing,
    'DATBASE_URL is no variable of this service: DATABASE_URL is, and is not set',
  ])
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
  assert.equal(problemsOf({ ...strong, SECRET_KEY: `${strong.SECRET_KEY},${'ab'.repeat(20)}` }).length, 1)
})

test('production calls nobody in the clear who gets a token, but itself', () => {
  for (const name of ['DIGITALOCEAN_API_URL', 'FINANCE_URL']) {
    for (const address of [
      'http://finance.internal',
      'http://10.0.0.8:3000',
      'http://localhost.evil.example',
      'http://127.0.0.1.nip.io',
    ])
      assert.match(
        problemsOf({ ...strong, [name]: address }).join(),
        new RegExp(`^${name} must be https`),
        address,
      )
    for (const address of [
      'https://finance.internal',
      'http://127.0.0.1:4008/base',
      'http://localhost',
      'http://[::1]:80',
    ])
      assert.deepEqual(problemsOf({ ...strong, [name]: address }), [], address)
    assert.deepEqual(problemsOf({ ...testEnvironment, [name]: 'http://finance.internal' }), [])
  }
})

test('an issuer with keys of its own is named with its audience, called by https in production, and makes the secret unneeded', () => {
  const { JWT_SECRET: _, ...without } = strong
  const keys = {
    JWT_JWKS_URL: 'https://id.example.com/keys/',
    JWT_ISSUER: 'https://id.example.com',
    JWT_AUDIENCE: 'cloudops-api',
  }
  assert.deepEqual(problemsOf({ ...testEnvironment, JWT_JWKS_URL: keys.JWT_JWKS_URL }), [
    'JWT_ISSUER must be set with JWT_JWKS_URL: the keys may sign for others too',
    'JWT_AUDIENCE must be set with JWT_JWKS_URL: the keys may sign for others too',
  ])
  for (const base of [strong, without]) {
    assert.deepEqual(problemsOf({ ...base, ...keys }), [])
    for (const JWT_JWKS_URL of ['http://id.internal/keys', 'http://127.0.0.1:8080/keys'])
      assert.deepEqual(problemsOf({ ...base, ...keys, JWT_JWKS_URL }), [
        'JWT_JWKS_URL must be https:// in production: its answer decides who is let in',
      ])
  }
  const { config } = readConfig({ ...without, ...keys })
  assert.deepEqual([config.JWT_SECRET, config.JWT_JWKS_URL], [[], keys.JWT_JWKS_URL])
  const finance = { FINANCE_URL: 'https://finance.example.com' }
  assert.deepEqual(problemsOf({ ...without, ...keys, ...finance }), [
    'FINANCE_JWT_SECRET must be set: there is no JWT_SECRET that could stand in for it',
  ])
  const { SECRET_KEY } = strong
  const FINANCE_JWT_SECRET = [...SECRET_KEY].reverse().join('')
  assert.deepEqual(problemsOf({ ...without, ...keys, ...finance, FINANCE_JWT_SECRET }), [])
  assert.deepEqual(problemsOf({ ...strong, ...keys, ...finance }), [])
  assert.deepEqual(problemsOf({ ...testEnvironment, ...keys, JWT_JWKS_URL: 'http://10.0.0.8/keys' }), [])
  for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]'])
    assert.deepEqual(problemsOf({ ...testEnvironment, ...keys, JWT_JWKS_URL: `http://${host}/keys` }), [
      'JWT_JWKS_URL points to a link-local address',
    ])
  assert.equal(
    problemsOf({ ...testEnvironment, ...keys, JWT_JWKS_URL: 'https://a:b@id.example.com' }).length,
    1,
  )
})

test('production refuses one secret for two purposes', () => {
  const words = (name: string, other: string) => [
    `${name} is the same as ${other}: give each a secret of its own`,
  ]
  const { JWT_SECRET, SECRET_KEY, SESSION_SIGNING_SALT } = strong
  assert.deepEqual(problemsOf({ ...strong, SECRET_KEY: JWT_SECRET }), words('SECRET_KEY', 'JWT_SECRET'))
  assert.deepEqual(
    problemsOf({ ...strong, SECRET_KEY: `${SECRET_KEY},${SESSION_SIGNING_SALT}` }),
    words('SESSION_SIGNING_SALT', 'SECRET_KEY'),
  )
  assert.deepEqual(
    problemsOf({ ...strong, JWT_SECRET: `${JWT_SECRET},${SECRET_KEY}` }),
    words('SECRET_KEY', 'JWT_SECRET'),
  )
  assert.deepEqual(
    problemsOf({ ...strong, FINANCE_JWT_SECRET: JWT_SECRET }),
    words('FINANCE_JWT_SECRET', 'JWT_SECRET'),
  )
  assert.deepEqual(
    problemsOf({ ...strong, DATABASE_URL: `postgres://ops:${SECRET_KEY}@db/x` }),
    words('SECRET_KEY', 'DATABASE_URL'),
  )
  assert.deepEqual(problemsOf({ ...testEnvironment, SECRET_KEY: testEnvironment.SESSION_SIGNING_SALT }), [])
})

test('a variable that looks like one of ours is named with the likely one, in the environment and in .env', () => {
  const wrong = { DATBASE_URL: 'x', JWT_SECRETS: 'x', CLOUDOPS_PORT: '1', DIGITAL_OCEAN_TOKEN: 'x' }
  const right = ['DATABASE_URL', 'JWT_SECRET', 'PORT', 'DIGITALOCEAN_TOKEN']
  const said = Object.keys(wrong).map((name, i) => {
    const state = right[i] === 'JWT_SECRET' ? 'is set' : 'is not set'
    return `${name} is no variable of this service: ${right[i]} is, and ${state}`
  })
  assert.deepEqual(readConfig({ ...testEnvironment, ...wrong }).warnings, said)
  assert.deepEqual(readConfig(testEnvironment, wrong).warnings, said)
  const { DATABASE_URL: url } = strong
  assert.deepEqual(
    problemsOf({ ...strong, ...wrong }),
    said.slice(2),
    'production refuses those in whose place a default would stand',
  )
  assert.equal(readConfig({ ...strong, DATBASE_URL: url }).warnings.length, 1)
  assert.deepEqual(
    readConfig({ ...testEnvironment, PATH: '/bin', PGHOST: 'db', npm_config_port: '1' }).warnings,
    [],
  )
  assert.deepEqual(readConfig({ ...testEnvironment, CLOUDOPS_PORT: 'tcp://10.0.0.1:80' }).warnings, [])
})

test('quotes, line breaks and units that were left in a value are told', () => {
  const words = (env: Record<string, string>) => problemsOf({ ...testEnvironment, ...env })
  assert.deepEqual(words({ HOST: '"0.0.0.0"' }), ['HOST has quotes around it: take them out'])
  assert.deepEqual(words({ PORT: "'4005'" }), ['PORT has quotes around it: take them out'])
  assert.deepEqual(words({ FINANCE_URL: 'https://finance\n.example' }), [
    'FINANCE_URL holds a line break or another control character',
  ])
  assert.deepEqual(words({ SHUTDOWN_GRACE_SECONDS: '30s' }), [
    'SHUTDOWN_GRACE_SECONDS is not a whole number from 1 to 3600: write it without a unit',
  ])
  assert.deepEqual(words({ PORT: '4005\r\n', HOST: ' ::1 ' }), [])
})

test('each of several secrets in rotation must be 32 bytes, and none may be empty', () => {
  const older = 'G5hJ0sLaq7Zk2pV9xR4mT8wCb1N6yD3f'
  assert.deepEqual(
    readConfig({ ...strong, JWT_SECRET: `${strong.JWT_SECRET} , ${older}` }).config.JWT_SECRET,
    [strong.JWT_SECRET, older],
  )
  assert.equal(problemsOf({ ...testEnvironment, SECRET_KEY: 'one,one' }).length, 1)
  assert.equal(problemsOf({ ...strong, JWT_SECRET: `${strong.JWT_SECRET},short` }).length, 1)
  assert.equal(problemsOf({ ...strong, JWT_SECRET: `${strong.JWT_SECRET},` }).length, 1)
})

test('proxies are named by address or range, and what is neither is refused', () => {
  const of = (TRUST_PROXY: string) => readConfig({ ...testEnvironment, TRUST_PROXY }).config.TRUST_PROXY
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
    assert.equal(problemsOf({ ...testEnvironment, TRUST_PROXY: wrong }).length, 1, wrong)
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
    'db:5432',
    'app',
    'dop_v1_token',
    env.FINANCE_JWT_SECRET,
    'cli-token',
  ]
  for (const secret of secrets) assert.ok(!text.includes(secret), secret)
  assert.match(text, /^postgres:\/\/\*{8}$/m, 'nothing of the database’s address but what it is')
})

test('docs/operations.md describes every variable with its default', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  for (const [name, { fallback, meaning }] of Object.entries<{ fallback?: string; meaning: string }>(
    variables,
  )) {
    assert.ok(docs.includes(`| \`${name}\` | ${fallback ?? 'none'} | ${meaning} |`), name)
  }
})
