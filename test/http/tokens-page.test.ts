// docs/tokens.md: its examples are run as they stand there, and what they print opens the service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { AUDIENCE, ISSUER, SECRET, startIssuer } from '../support/tokens.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/tokens.md'), 'utf8')

/** The examples of a language below a heading. */
function example(heading: string, language: string): string {
  const section = page.split('\n## ').find(part => part.startsWith(`${heading}\n`)) ?? ''
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(section)
  assert.ok(found, `${heading}: ${language}`)
  return found[1]!
}

const SECRETS = 'Signing with the shared secret'
const KEYS = "Signing with the issuer's own keys"
const execute = promisify(execFile)
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await execute(command, args, { cwd: root, env: { ...process.env, JWT_SECRET: SECRET } })).stdout.trim()
const inNode = (code: string) => run(process.execPath, '--input-type=module', '--eval', code)

async function opens({ call, clock }: Bundle, token: string): Promise<void> {
  // The example has the time of the machine, the service that of the test.
  const { iat, exp } = decodeJwt(token)
  assert.equal(exp! - iat!, 900)
  clock.set(new Date(iat! * 1000).toISOString())
  const { status, body, text } = await call('GET', '/api/v1/session', { token })
  assert.equal(status, 200, text)
  const { sub, tenant_id, roles } = body.data
  assert.deepEqual({ sub, tenant_id, roles }, { sub: 'ada', tenant_id: 'acme', roles: ['member'] })
}

test(
  'the page’s Node and Python examples for the shared secret print tokens that the service accepts',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    await opens(bundle, await inNode(example(SECRETS, 'js')))
    const python = await run('python3', '-c', example(SECRETS, 'python')).catch(error => {
      // Not every machine has it; a mistake of the example is another matter.
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (python === undefined) t.diagnostic('python3 is not installed: its example was not run')
    else await opens(bundle, python)
  },
)

test(
  'the page’s Node example for the issuer’s own keys prints a key set and a token that fit',
  onPostgresAlone,
  async t => {
    const { jwks, token } = JSON.parse(await inNode(example(KEYS, 'js')))
    const issuer = await startIssuer(t)
    issuer.serve(...jwks.keys)
    await opens(await setup(t, { env: issuer.env }), token)
    for (const language of ['js', 'python', 'go'])
      for (const words of [ISSUER, AUDIENCE, 'kid'])
        assert.ok(example(KEYS, language).includes(words), `${language}: ${words}`)
  },
)
