import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { likelyName } from '../../src/kernel/config-names.ts'
import { bitsOf, weakness } from '../../src/kernel/config-secrets.ts'

/** Random bytes that are the same in every run. */
const bytes = (seed: number, length: number): Buffer =>
  Buffer.concat([0, 1, 2].map(part => createHash('sha256').update(`${seed}.${part}`).digest())).subarray(
    0,
    length,
  )

test('what a random generator makes is never weak, in whichever alphabet', () => {
  const digits = (alphabet: string, all: Buffer) =>
    Array.from(all, byte => alphabet[byte % alphabet.length]).join('')
  for (let seed = 0; seed < 300; seed++) {
    for (const value of [
      bytes(seed, 48).toString('base64'),
      bytes(seed, 32).toString('base64url'),
      bytes(seed, 24).toString('base64'),
      bytes(seed, 32).toString('hex'),
      bytes(seed, 16).toString('hex'),
      digits('abcdefghijklmnopqrstuvwxyz234567', bytes(seed, 52)),
      digits('0123456789', bytes(seed, 60)),
    ])
      assert.equal(weakness(value, 32), undefined, value)
    assert.equal(weakness(bytes(seed, 12).toString('base64'), 16), undefined)
  }
})

test('what repeats itself, counts up, follows the keyboard or spells words is weak', () => {
  const reasons: Record<string, string[]> = {
    'is 31 bytes, at least 32 are needed': ['q7Zk2pV9xR4mT8wB1nC6yD3fG5hJ0sL'],
    'has too few different characters': [
      'a'.repeat(40),
      'abcabcabc'.repeat(5),
      '0101100111000101101010100101110101',
    ],
    'looks like a placeholder': [
      'changeme-changeme-changeme-changeme',
      'your-256-bit-secret-your-secret-here',
      'Please-Replace-This-With-Random-9f8a7b',
      'P@ssw0rd!P@ssw0rd?P@ssw0rd;P@ssw0rd',
      'my-super-secret-0123456789-qwertyuiop',
      '<put the output of openssl rand here>',
      `\${JWT_SECRET_OF_THE_PRODUCTION_VAULT}`,
    ],
    'repeats itself or counts up': [
      '12345678901234567890123456789012',
      '0123456789abcdef0123456789abcdef',
      'abcdefghijklmnopqrstuvwxyz012345',
      'zyxwvutsrqponmlkjihgfedcba987654',
      'qwertyuiopasdfghjklzxcvbnm123456',
      '1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y',
      '00112233445566778899aabbccddeeff',
      '0102030405060708090a0b0c0d0e0f1011121314151617',
      'admin123admin123admin123admin123',
      'Xk9$mQ2!Xk9$mQ2!Xk9$mQ2!Xk9$mQ2!',
    ],
    'is made of words': [
      'this-is-a-very-long-string-for-jwt-tokens',
      'correct-horse-battery-staple-today',
      'the-secret-of-the-session-cookie-is-this',
      'ThisIsTheVeryLongSecretForProduction',
      'cloudops-production-secret-key-2026',
    ],
  }
  for (const [reason, values] of Object.entries(reasons))
    for (const value of values) assert.equal(weakness(value, 32), reason, value)
})

test('the line is drawn at two bits for each byte that is asked for', () => {
  assert.ok(bitsOf('q7Zk2pV9xR4mT8wB') >= 32)
  assert.equal(weakness('q7Zk2pV9xR4mT8wB', 16), undefined)
  assert.equal(weakness('abcdefghabcdefgh', 16), 'repeats itself or counts up')
})

test('a misspelt name leads to the likely one, and other programs’ names to none', () => {
  const known = [
    'PORT',
    'HOST',
    'DATABASE_URL',
    'JWT_SECRET',
    'DIGITALOCEAN_TOKEN',
    'LOG_LEVEL',
    'RATE_LIMIT_PER_MINUTE',
    'NODE_ENV',
  ]
  const meant = (...names: string[]) => names.map(name => likelyName(name, known))
  const sure = (name: string) => ({ name, sure: true })
  for (const name of [
    'DATBASE_URL',
    'DATABSE_URL',
    'DATABASE_URI',
    'DATABASE_URLS',
    'DATABASEURL',
    'database_url',
    'database-url',
    'URL_DATABASE',
    'CLOUDOPS_DATABASE_URL',
    'CLOUDOPS_DATBASE_URL',
    'DATABASE_URL_FILE',
    'DTABASE_UR',
  ])
    assert.deepEqual(likelyName(name, known), sure('DATABASE_URL'), name)
  assert.deepEqual(meant('PROT', 'CLOUDOPS_PORT', 'CLOUD_OPS_PORT', 'Port'), Array(4).fill(sure('PORT')))
  assert.deepEqual(meant('JWT_SECRETS', 'JTW_SECRET', 'SECRET_JWT'), Array(3).fill(sure('JWT_SECRET')))
  assert.deepEqual(
    meant('DIGITAL_OCEAN_TOKEN', 'NODEENV', 'LOGLEVEL').map(found => found?.name),
    ['DIGITALOCEAN_TOKEN', 'NODE_ENV', 'LOG_LEVEL'],
  )
  assert.deepEqual(meant('DIGITALOCEAN_ACCESS_TOKEN', 'RATE_LIMIT_PER_MIN', 'RATE_LIMIT_MINUTE'), [
    { name: 'DIGITALOCEAN_TOKEN', sure: false },
    { name: 'RATE_LIMIT_PER_MINUTE', sure: false },
    { name: 'RATE_LIMIT_PER_MINUTE', sure: false },
  ])
  const others =
    'PATH HOME HOSTNAME HOSTS POST PORTS SPORT GHOST TERM SHELL USER PGHOST PGPORT PGDATA NODE_OPTIONS NODE_PATH NODE_VERSION ' +
    'npm_config_cache npm_package_name AWS_SECRET_ACCESS_KEY STRIPE_SECRET_KEY DATABASE_USER DATABASE_HOST DATABASE_PORT ' +
    'DATABASE_URL_TEST TEST_DATABASE_URL REDIS_URL API_URL POSTGRES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_PORT SERVER_PORT ' +
    'HTTP_PORT REDIS_HOST GITHUB_TOKEN LOG_FORMAT LOG_FILE JWT_ALGORITHM SECRET_TOKEN DATABASE JWT _ CLOUDOPS'
  for (const name of others.split(' ')) assert.equal(likelyName(name, known), undefined, name)
})
