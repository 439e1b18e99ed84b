// Tokens of an issuer that signs with keys of its own (JWT_JWKS_URL), beside those of a shared secret.
import assert from 'node:assert/strict'
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKeyInput,
  type KeyObject,
  sign,
} from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JWK, JWTPayload } from 'jose'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'
import {
  AUDIENCE,
  claimsAt,
  ISSUER,
  SECRET,
  type SigningKey,
  signingKey,
  startIssuer,
} from '../support/tokens.ts'

const MINUTE = 60_000
const guarded = '/api/v1/session'
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function served(t: TestContext, ...more: SigningKey[]) {
  const key = await signingKey('first')
  const issuer = await startIssuer(t, key, ...more)
  const bundle = await setup(t, { env: issuer.env })
  const claims = (more?: JWTPayload) => claimsAt(bundle.clock.now(), more)
  return { ...bundle, bundle, issuer, key, claims, get: getter(bundle) }
}

const getter = (bundle: Bundle) => (token: string) => bundle.call('GET', guarded, { token })

async function refused(get: (token: string) => ReturnType<Bundle['call']>, name: string, token: string) {
  const { status, body, text, headers } = await get(token)
  assert.equal(status, 401, `${name}: ${text}`)
  assert.equal(body.code, 'unauthenticated', name)
  assert.match(headers.get('www-authenticate') ?? '', /^Bearer/, name)
  return body.detail as string
}

test(
  'tokens signed with RS256, ES256 and EdDSA by a key of the issuer are accepted',
  onPostgresAlone,
  async t => {
    const keys = await Promise.all(['RS256', 'ES256', 'EdDSA'].map(alg => signingKey(`key-${alg}`, alg)))
    const { get, claims } = await served(t, ...keys)
    for (const key of keys) {
      const { status, body, text } = await get(
        await key.sign(claims({ sub: 'grace', role: ['member', 'x'] })),
      )
      assert.equal(status, 200, text)
      assert.deepEqual(
        [body.data.sub, body.data.tenant_id, body.data.roles],
        ['grace', 'acme', ['member', 'x']],
      )
    }
    const audiences = await keys[0]!.sign(claims({ aud: ['other', AUDIENCE] }), { typ: 'at+jwt' })
    assert.equal((await get(audiences)).status, 200)
  },
)

test(
  'a token is refused whose claims, header, key or signature are not those of the issuer',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock } = await served(t)
    const stranger = await signingKey('first', 'ES256', { ext: true })
    const now = Math.floor(clock.now().getTime() / 1000)
    const good = await key.sign(claims())
    const [header, , signature] = good.split('.') as [string, string, string]
    const { exp: _exp, ...withoutExp } = claims()
    const rows: Record<string, string> = {
      'another’s key of the same name': await stranger.sign(claims()),
      'a changed payload': [header, part(claims({ role: 'platform_admin' })), signature].join('.'),
      'alg none': `${part({ alg: 'none', kid: 'first' })}.${part(claims())}.`,
      'alg of another family': `${part({ alg: 'RS256', kid: 'first' })}.${part(claims())}.${signature}`,
      'an algorithm that is not offered': `${part({ alg: 'PS256', kid: 'first' })}.${part(claims())}.${signature}`,
      'a key of its own in the header': await stranger.sign(claims(), { jwk: stranger.jwk }),
      'an address of keys in the header': await key.sign(claims(), { jku: issuer.url }),
      'an address of certificates in the header': await key.sign(claims(), { x5u: issuer.url }),
      'a certificate in the header': await key.sign(claims(), { x5c: ['MIIB'] }),
      'an extension that must be understood': `${part({ alg: 'ES256', kid: 'first', crit: ['b64'], b64: true })}.${part(claims())}.${signature}`,
      'a name that is none': `${part({ alg: 'ES256', kid: { $ne: '' } })}.${part(claims())}.${signature}`,
      'a logout token': await key.sign(claims(), { typ: 'logout+jwt' }),
      'another issuer': await key.sign(claims({ iss: `${ISSUER}/` })),
      'no issuer': await key.sign(claims({ iss: undefined })),
      'a list of issuers': await key.sign(claims({ iss: [ISSUER] as unknown as string })),
      'another audience': await key.sign(claims({ aud: 'another-service' })),
      'no audience': await key.sign(claims({ aud: undefined })),
      expired: await key.sign(claims({ exp: now - 6 })),
      'not yet': await key.sign(claims({ nbf: now + 60 })),
      'no exp': await key.sign(withoutExp),
      'no sub': await key.sign(claims({ sub: undefined })),
    }
    for (const [name, token] of Object.entries(rows)) await refused(get, name, token)
    assert.equal((await get(good)).status, 200)
  },
)

test('a public key is no secret: an HMAC made with it opens nothing', onPostgresAlone, async t => {
  const key = await signingKey('rsa', 'RS256')
  const { get, claims } = await served(t, key)
  assert.equal((await get(await key.sign(claims()))).status, 200)
  const known = createPublicKey({ key: key.jwk as JsonWebKeyInput['key'], format: 'jwk' })
  const shapes = [
    known.export({ type: 'spki', format: 'pem' }),
    known.export({ type: 'pkcs1', format: 'pem' }),
    known.export({ type: 'spki', format: 'der' }),
    JSON.stringify(key.jwk),
    key.jwk.n!,
  ]
  for (const secret of shapes) {
    for (const iss of [ISSUER, undefined]) {
      const input = `${part({ alg: 'HS256', kid: 'rsa' })}.${part(claims({ iss, role: 'platform_admin' }))}`
      const mac = createHmac('sha256', secret).update(input).digest('base64url')
      await refused(get, 'an HMAC with the public key', `${input}.${mac}`)
    }
  }
})

test('keys that are weak, not public, or for something else are not used', onPostgresAlone, async t => {
  const { issuer, get, claims, clock } = await served(t)
  const signed = (privateKey: KeyObject, header: object) => {
    const input = `${part(header)}.${part(claims())}`
    return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`
  }
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const good = await signingKey('good', 'RS256')
  const keys: [string, JWK, string][] = [
    [
      '1024 bits',
      weak.publicKey.export({ format: 'jwk' }) as JWK,
      signed(weak.privateKey, { alg: 'RS256', kid: 'odd' }),
    ],
    ['for encryption', { ...good.jwk, use: 'enc' }, await good.sign(claims(), { kid: 'odd' })],
    [
      'for signing alone',
      { ...good.jwk, use: undefined, key_ops: ['sign'] },
      await good.sign(claims(), { kid: 'odd' }),
    ],
    ['for PS256', { ...good.jwk, alg: 'PS256' }, await good.sign(claims(), { kid: 'odd' })],
  ]
  const secret = 'a-secret-that-the-issuer-publishes-by-mistake'
  const input = `${part({ alg: 'HS256', kid: 'odd' })}.${part(claims())}`
  const mac = createHmac('sha256', secret).update(input).digest('base64url')
  keys.push(['a secret', { kty: 'oct', k: Buffer.from(secret).toString('base64url') }, `${input}.${mac}`])
  for (const [name, jwk, token] of keys) {
    issuer.serve(good, { ...jwk, kid: 'odd' })
    clock.advance(10 * MINUTE)
    assert.equal((await get(await good.sign(claims()))).status, 200, name)
    await refused(get, name, token)
  }
})

test(
  'an issuer has either keys or a secret: a secret’s token in the name of the one with keys is refused',
  onPostgresAlone,
  async t => {
    const { get, claims, tokens, key } = await served(t)
    const detail = await refused(get, 'in its name', await tokens.raw(claims()))
    assert.match(detail, /own keys/)
    assert.equal((await get(await tokens.raw(claims({ iss: 'another' })))).status, 200)
    assert.equal((await get(await tokens.raw(claims({ iss: undefined })))).status, 200)
    await refused(get, 'for another audience', await tokens.raw(claims({ iss: 'another', aud: 'else' })))
    await refused(get, 'a key in the secret’s name', await key.sign(claims({ iss: 'another' })))
  },
)

test(
  'in production without JWT_SECRET no token of a secret is good, the empty one’s neither',
  onPostgresAlone,
  async t => {
    const { get, claims, bundle } = await served(t)
    bundle.ctx.config.JWT_SECRET = []
    const { buildApp } = await import('../../src/app.ts')
    const app = await buildApp(bundle.ctx)
    t.after(() => app.close())
    const input = `${part({ alg: 'HS256' })}.${part(claims({ iss: undefined, role: 'platform_admin' }))}`
    for (const secret of ['', SECRET]) {
      const token = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
      const { statusCode, body } = await app.inject({
        url: guarded,
        headers: { authorization: `Bearer ${token}` },
      })
      assert.equal(statusCode, 401, body)
      assert.match(body, /not signed with RS256, ES256 or EdDSA/)
    }
    assert.equal(
      (await get(await bundle.tokens.raw(claims({ iss: undefined })))).status,
      200,
      'the first app has it',
    )
  },
)

test(
  'a new key is fetched when a token names it, and however many names are made up, five times in a minute',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock } = await served(t)
    assert.equal((await get(await key.sign(claims()))).status, 200)
    assert.equal(issuer.asked(), 1)
    const second = await signingKey('second')
    issuer.serve(key, second)
    assert.equal((await get(await second.sign(claims()))).status, 200)
    assert.equal(issuer.asked(), 2)
    const flood = async () => {
      const tokens = await Promise.all(
        Array.from({ length: 40 }, (_, i) => key.sign(claims(), { kid: `made-up-${i}` })),
      )
      const answers = await Promise.all(tokens.map(get))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401])
    }
    for (let round = 0; round < 4; round++) await flood()
    assert.equal(issuer.asked(), 5)
    clock.advance(MINUTE)
    await flood()
    assert.ok(issuer.asked() > 5)
    assert.equal((await get(await key.sign(claims({ sub: 'bob' })))).status, 200)
  },
)

test(
  'a token that names no key is good while the issuer has one that fits, and refused when it has several',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock } = await served(t)
    const nameless = (sub: string) => key.sign(claims({ sub }), { kid: undefined })
    assert.equal((await get(await nameless('ada'))).status, 200)
    issuer.serve(key, await signingKey('second'))
    clock.advance(10 * MINUTE)
    assert.match(await refused(get, 'several', await nameless('bob')), /`kid`/)
  },
)

test(
  'a key that is taken away opens nothing after ten minutes, remembered tokens and sessions included',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock, call } = await served(t)
    const token = await key.sign(claims())
    const started = await call('POST', guarded, { token })
    const cookie = started.headers.get('set-cookie')!.split(';')[0]!
    issuer.serve(await signingKey('second'))
    clock.advance(10 * MINUTE - 1)
    assert.equal((await get(token)).status, 200)
    // The renewal goes on beside that request.
    await eventually('the key is gone', async () => (await get(token)).status === 401)
    clock.advance(1)
    await refused(get, 'remembered', token)
    assert.equal((await call('GET', guarded, { token: null, headers: { cookie } })).status, 401)
    assert.ok(issuer.asked() <= 5, `${issuer.asked()} requests`)
  },
)

test(
  'keys are renewed beside the requests from five minutes on, and a key that stays goes on',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock } = await served(t)
    const token = await key.sign(claims())
    assert.equal((await get(token)).status, 200)
    clock.advance(5 * MINUTE - 1)
    assert.equal((await get(token)).status, 200)
    assert.equal(issuer.asked(), 1)
    clock.advance(1)
    assert.equal((await get(token)).status, 200)
    await eventually('the keys are renewed', async () => issuer.asked() === 2)
    assert.equal((await get(token)).status, 200)
    clock.advance(-60 * MINUTE)
    const earlier = await key.sign(claims())
    assert.equal((await get(earlier)).status, 200, 'a clock that was set back')
    assert.equal(issuer.asked(), 3)
  },
)

test(
  'while the issuer is away known keys go on for an hour, and what cannot be judged is 503 with Retry-After',
  onPostgresAlone,
  async t => {
    const { issuer, key, get, claims, clock, logged } = await served(t)
    const token = await key.sign(claims())
    assert.equal((await get(token)).status, 200)
    issuer.answer((_request, reply) => reply.writeHead(500).end('{}'))
    const unavailable = async (sent: string) => {
      const { status, body, headers } = await get(sent)
      assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '5'])
    }
    clock.advance(10 * MINUTE)
    assert.equal((await get(token)).status, 200)
    await unavailable(await key.sign(claims(), { kid: 'unknown' }))
    clock.advance(50 * MINUTE - 1)
    assert.equal((await get(await key.sign(claims({ sub: 'bob' })))).status, 200)
    clock.advance(1)
    await unavailable(token)
    assert.equal(logged().match(/keys could not be fetched/g)?.length, 1, 'told once')
    issuer.serve(key)
    clock.advance(5_000)
    assert.equal((await get(token)).status, 200)
    assert.match(logged(), /can be fetched again/)
  },
)

test(
  'an issuer that never answered is asked again every five seconds at most, and tokens of a secret go on',
  onPostgresAlone,
  async t => {
    const key = await signingKey('first')
    const issuer = await startIssuer(t)
    issuer.answer((_request, reply) =>
      reply.writeHead(302, { location: 'https://elsewhere.example.com/' }).end(),
    )
    const bundle = await setup(t, { env: issuer.env })
    const { clock, tokens } = bundle
    const get = getter(bundle)
    const sent = () => key.sign(claimsAt(clock.now()))
    for (let i = 0; i < 5; i += 1) assert.equal((await get(await sent())).status, 503)
    assert.equal(issuer.asked(), 1)
    clock.advance(5_000)
    assert.equal((await get(await sent())).status, 503)
    assert.equal(issuer.asked(), 2)
    assert.equal((await get(await tokens.raw(claimsAt(clock.now(), { iss: 'another' })))).status, 200)
    issuer.serve(key)
    clock.advance(5_000)
    assert.equal((await get(await sent())).status, 200)
  },
)
