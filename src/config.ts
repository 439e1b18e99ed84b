// The only reader of the environment. One literal table names every variable, its default and its meaning;
// the `Config` type, the problems reported at start, `cloudops config` and the table in docs/operations.md
// (a test compares them) follow from it. What production asks beyond that is in kernel/production-checks.ts.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import * as check from './kernel/config-checks.ts'
import { productionProblems } from './kernel/config-checks.ts'
import { misspelt } from './kernel/config-names.ts'
import { developmentSecrets } from './kernel/config-secrets.ts'

interface Variable<T> {
  check: check.Check<NonNullable<T>>
  meaning: string
  /** What stands in when the variable is not set. */
  fallback?: string
  /** Never printed. */
  secret?: true
  /** How long a key must be in production; other secrets (tokens of others) are what they are. */
  minBytes?: number
  /** Made once and kept in DATA_DIR when not set, except in production, where it must be set. */
  generated?: true
  /** Why production does not start without it, or how to mend that. */
  neededInProduction?: string
  /** The variable that makes this one unneeded. */
  neededUnless?: string
  /** An address that production calls by https: alone, and why. */
  httpsInProduction?: string
}

const withDefault = <T>(fallback: string, check: check.Check<T>, meaning: string) =>
  ({ check, meaning, fallback }) as Variable<T>
const optional = <T>(check: check.Check<T>, meaning: string) =>
  ({ check, meaning }) as Variable<T | undefined>
const optionalSecret = <T>(check: check.Check<T>, meaning: string, minBytes?: number) =>
  ({ check, meaning, minBytes, secret: true }) as Variable<T | undefined>
const generatedSecret = <T>(shape: check.Check<T>, meaning: string, minBytes: number) =>
  ({
    check: shape,
    meaning,
    minBytes,
    secret: true,
    generated: true,
    neededInProduction: check.MAKE_ONE,
  }) as Variable<T>

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const poolers = ['auto', 'none', 'transaction'] as const
const environments = ['development', 'test', 'production'] as const

export const variables = {
  PORT: withDefault('4005', check.port, 'port of the API'),
  HOST: withDefault('127.0.0.1', check.text, 'address the API listens on'),
  MANAGEMENT_PORT: withDefault(
    '4006',
    check.port,
    'loopback-only listener for the console at `/`, `/metrics`, `/docs`, `/openapi.json` and `/ready`; 0 turns it off',
  ),
  DATABASE_URL: {
    ...optionalSecret(
      check.databaseUrl,
      'PostgreSQL 15 or later; none: the embedded PGlite under `DATA_DIR`, which production refuses',
    ),
    neededInProduction: 'the embedded database is for trying',
  },
  DATABASE_POOL_SIZE: withDefault(
    '10',
    check.integer(1, 500),
    'connections one process holds for requests and jobs; the queue holds up to 5 more',
  ),
  DATABASE_POOLER: withDefault(
    'auto',
    check.oneOf(poolers),
    '`transaction`: a pooler in transaction mode is in between, `none`: there is none, `auto`: find out',
  ),
  DATABASE_STATEMENT_SECONDS: withDefault(
    '10',
    check.integer(1, 600),
    'how long one statement of a request may take before it is ended with 503 `query_timeout`; jobs over whole tables have 10 minutes',
  ),
  DATA_DIR: withDefault(
    './data',
    check.text,
    'folder of the embedded database, the sandbox, the development secrets and local storage backends',
  ),
  JWT_SECRET: {
    ...generatedSecret(
      check.secretList(check.SECRET_BYTES),
      'shared with the issuer of tokens, which signs with HS256, HS384 or HS512; several, comma-separated, during a rotation; each at least 32 bytes',
      check.SECRET_BYTES,
    ),
    neededUnless: 'JWT_JWKS_URL',
  },
  JWT_ISSUER: optional(
    check.text,
    'compared with `iss` when set; with `JWT_JWKS_URL` the issuer whose keys those are',
  ),
  JWT_AUDIENCE: optional(check.text, 'compared with `aud` when set'),
  JWT_JWKS_URL: optional(
    check.documentUrl,
    'public keys (JWKS) of an issuer that signs with RS256, ES256 or EdDSA; needs `JWT_ISSUER` and `JWT_AUDIENCE`; in production https',
  ),
  JWT_TENANT_CLAIM: withDefault('tenant_id', check.text, 'claim that names the tenant'),
  JWT_ROLE_CLAIM: withDefault(
    'role',
    check.text,
    'claim that holds a role or a list of roles; `roles` is read too',
  ),
  SECRET_KEY: generatedSecret(
    check.secretList(1),
    'encrypts stored secrets and, with the salt, signs the session cookie; `new,old` during a rotation; in production each at least 32 bytes',
    check.SECRET_BYTES,
  ),
  SESSION_SIGNING_SALT: generatedSecret(
    check.secret,
    'salt of the session cookie’s key; in production at least 16 bytes',
    16,
  ),
  DEV_ORIGIN: withDefault(
    'http://localhost:5173',
    check.origin,
    'the one local origin browsers may call from',
  ),
  ALLOWED_ORIGIN_DOMAIN: optional(check.domain, 'browsers may call from any https subdomain of it'),
  DIGITALOCEAN_TOKEN: optionalSecret(
    check.text,
    'the provider’s API token, for queues without the secret `provider_token/<queue>`',
  ),
  DIGITALOCEAN_API_URL: {
    ...withDefault('https://api.digitalocean.com', check.url, 'the provider’s API; in production https'),
    httpsInProduction: 'the token travels with every request',
  },
  FINANCE_URL: {
    ...optional(check.url, 'the finance service; none: invoices are not pushed; in production https'),
    httpsInProduction: 'tokens and invoices travel with every request',
  },
  FINANCE_TENANT_ID: optional(
    check.text,
    'tenant named in tokens sent to finance; none: `PLATFORM_TENANT_ID`',
  ),
  FINANCE_JWT_SECRET: optionalSecret(
    check.secret,
    'signs tokens sent to finance; none: the first `JWT_SECRET`',
    check.SECRET_BYTES,
  ),
  WEBHOOKS_ALLOW_PRIVATE: withDefault(
    'false',
    check.flag,
    '`true`: webhooks may also be sent to private (not link-local) addresses and by plain http; for trying and for closed networks',
  ),
  PLATFORM_TENANT_ID: withDefault('platform', check.text, 'the platform-admin tenant'),
  FINDINGS_OFF_DAYS: withDefault(
    '3',
    check.integer(0, 3650),
    'days that a droplet may be switched off before it is a finding: it is charged for all the same',
  ),
  FINDINGS_SNAPSHOT_DAYS: withDefault(
    '90',
    check.integer(0, 3650),
    'days after which a snapshot is old, and a finding',
  ),
  FINDINGS_IMAGE_DAYS: withDefault(
    '180',
    check.integer(0, 3650),
    'days after which an image of the account’s own is old, and a finding',
  ),
  FINDINGS_SWEEP_FAILED_HOURS: withDefault(
    '3',
    check.integer(0, 720),
    'hours that the sweeps of a kind may fail before that is a finding',
  ),
  RATE_LIMIT_PER_MINUTE: withDefault(
    '6000',
    check.integer(0, 10_000_000),
    'requests a minute for each caller, counted by each process; 0 turns the limit off',
  ),
  USAGE_REQUESTS_PER_MINUTE: withDefault(
    '6000',
    check.integer(0, 10_000_000),
    'requests with usage events a minute for each caller, counted by each process and apart from the others; each holds up to 1,000 events; 0 turns the limit off',
  ),
  AUTH_FAILURES_PER_MINUTE: optional(
    check.integer(0, 10_000_000),
    'failed authentications a minute for each address (IPv6: each /64), counted by each process; none: a tenth of `RATE_LIMIT_PER_MINUTE`; 0 turns the limit off',
  ),
  REQUESTS_AT_ONCE: optional(
    check.integer(1, 10_000),
    'requests of one tenant (or of all platform_admins) that one process works on at once; the others wait up to 5 seconds; none: seven tenths of `DATABASE_POOL_SIZE`',
  ),
  TRUST_PROXY: withDefault(
    'false',
    check.proxies,
    'reverse proxies whose `X-Forwarded-For` is believed: how many stand before the service, or their addresses and networks, comma-separated; `false`: none',
  ),
  SHUTDOWN_GRACE_SECONDS: withDefault(
    '30',
    check.integer(1, 3600),
    'how long a stopping process waits for requests and jobs in flight',
  ),
  CLOUDOPS_URL: optional(check.url, 'where the command line finds the service; none: `HOST` and `PORT`'),
  CLOUDOPS_TOKEN: optionalSecret(
    check.text,
    'token the command line calls with; none: the one that a development service leaves in `DATA_DIR`',
  ),
  LOG_LEVEL: withDefault('info', check.oneOf(logLevels), 'fatal, error, warn, info, debug, trace or silent'),
  NODE_ENV: withDefault(
    'development',
    check.oneOf(environments),
    'development, test or production; production refuses missing, weak or shared secrets and never starts the sandbox',
  ),
}

export type VariableName = keyof typeof variables
export type Config = { [N in VariableName]: (typeof variables)[N] extends Variable<infer T> ? T : never }
export type Source = 'environment' | '.env' | 'default' | 'generated' | 'not set'

export interface LoadedConfig {
  config: Config
  sources: Record<VariableName, Source>
  /** What is odd, and keeps nothing from starting. */
  warnings: string[]
}

export class ConfigError extends Error {
  problems: string[]
  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.map(p => `  - ${p}`).join('\n')}`,
    )
    this.problems = problems
  }
}

type Environment = Record<string, string | undefined>

export interface ReadOptions {
  /** Whether secrets that are missing are made, and kept in DATA_DIR; a service's process does, a look at its configuration not. */
  makeSecrets?: boolean
}

/** Reads the process's environment and, under it, the `.env` file of the working directory. */
export function loadConfig(options?: ReadOptions): LoadedConfig {
  const { values, repeated } = readDotEnv()
  const loaded = readConfig(process.env, values, options)
  const warnings = repeated.map(name => `.env sets ${name} more than once: the last one counts`)
  for (const warning of [...warnings, ...loaded.warnings]) process.stderr.write(`warning: ${warning}\n`)
  return loaded
}

/** What a command needs that calls the running service: where it is and who calls, nothing of the service's own. */
const clientVariables = [
  'CLOUDOPS_URL',
  'CLOUDOPS_TOKEN',
  'HOST',
  'PORT',
  'DATA_DIR',
  'NODE_ENV',
] as const satisfies VariableName[]

export type ClientConfig = Pick<Config, (typeof clientVariables)[number]> & {
  /** Whether tokens can be signed here as the issuer would. */
  hasJwtSecret: boolean
}

export function loadClientConfig(): ClientConfig {
  const dotEnv = readDotEnv().values
  const { values, problems } = checked(clientVariables, process.env, dotEnv)
  if (problems.length > 0) throw new ConfigError(problems)
  const [secret] = find('JWT_SECRET', process.env, dotEnv, variables.JWT_SECRET)
  return { ...(values as Config), hasJwtSecret: secret !== undefined }
}

function checked(names: readonly VariableName[], environment: Environment, dotEnv: Environment) {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const name of names) {
    const definition: Variable<unknown> = variables[name]
    const [raw, source] = find(name, environment, dotEnv, definition)
    sources[name] = source
    if (raw === undefined) continue
    try {
      values[name] = definition.check(definition.secret ? raw : check.plain(raw))
    } catch (error) {
      if (!(error instanceof check.BadValue)) throw error
      problems.push(`${name} ${error.message}`)
    }
  }
  return { values, sources, problems }
}

export function readConfig(
  environment: Environment,
  dotEnv: Environment = {},
  { makeSecrets = true }: ReadOptions = {},
): LoadedConfig {
  const names = Object.keys(variables) as VariableName[]
  const { values, sources, problems } = checked(names, environment, dotEnv)
  const production = values.NODE_ENV === 'production'
  if (production) problems.push(...productionProblems(variables, values, sources))
  problems.push(...issuerProblems(values, production))
  const warnings: string[] = []
  for (const { name, likely, sure } of misspelt(names, environment, dotEnv)) {
    const ignored = sources[likely] === 'default' || sources[likely] === 'not set'
    const words = `${name} is no variable of this service: ${likely} is, and ${ignored ? 'is not set' : 'is set'}`
    if (production && sure && ignored) problems.push(words)
    else warnings.push(words)
  }
  if (problems.length > 0) throw new ConfigError(problems)

  // The issuer has keys of its own, and there is no other: no secret is good.
  if (production) values.JWT_SECRET ??= []
  const missing = names.filter(name => variables[name].generated && values[name] === undefined)
  if (missing.length > 0) {
    const secrets: Environment = { ...developmentSecrets(values.DATA_DIR as string, makeSecrets) }
    for (const name of missing.filter(each => makeSecrets || secrets[each] !== undefined)) {
      values[name] = variables[name].check(secrets[name] ?? '')
      sources[name] = 'generated'
    }
  }
  // Every name was checked above, or has been given its fallback or generated value.
  return { config: values as Config, sources: sources as Record<VariableName, Source>, warnings }
}

/** What an issuer with keys of its own asks of the other variables. */
function issuerProblems(values: Record<string, unknown>, production: boolean): string[] {
  const { JWT_JWKS_URL: url } = values
  if (url === undefined) return []
  const problems = ['JWT_ISSUER', 'JWT_AUDIENCE']
    .filter(name => values[name] === undefined)
    .map(name => `${name} must be set with JWT_JWKS_URL: the keys may sign for others too`)
  if (!production) return problems
  // Not even on this machine: whoever answers there could make a platform_admin of anybody.
  if (!String(url).startsWith('https:'))
    problems.push('JWT_JWKS_URL must be https:// in production: its answer decides who is let in')
  if (values.FINANCE_URL && !values.FINANCE_JWT_SECRET && !values.JWT_SECRET)
    problems.push('FINANCE_JWT_SECRET must be set: there is no JWT_SECRET that could stand in for it')
  return problems
}

/** An empty variable counts as not set: that is what shells and compose files make of a blank. */
function find(
  name: string,
  environment: Environment,
  dotEnv: Environment,
  { fallback }: Variable<unknown>,
): [string | undefined, Source] {
  if (environment[name]?.trim()) return [environment[name].trim(), 'environment']
  if (dotEnv[name]?.trim()) return [dotEnv[name].trim(), '.env']
  return fallback === undefined ? [undefined, 'not set'] : [fallback, 'default']
}

function readDotEnv(): { values: Environment; repeated: string[] } {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    const text = readFileSync('.env', 'utf8').replace(/^\ufeff/, '')
    const names = [...text.matchAll(/^\s*(?:export\s+)?(\w+)\s*=/gm)].map(([, name]) => name!)
    const repeated = names.filter((name, i) => names.indexOf(name) !== i && Object.hasOwn(variables, name))
    return { values: parseEnv(text), repeated: [...new Set(repeated)] }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return { values: {}, repeated: [] }
    throw error
  }
}

/** What may be shown of a value: of a secret its size, of a database's address that it is one. */
export function shown(name: VariableName, config: Config): string {
  const value = config[name]
  if (value === undefined) return ''
  // Passwords stand in more than one place of it, and who is called what and where is nobody's business either.
  if (name === 'DATABASE_URL') return `${new URL(String(value)).protocol}//********`
  const definition: Variable<unknown> = variables[name]
  if (!definition.secret) return String(value)
  return [value]
    .flat()
    .map(one => `******** (${Buffer.byteLength(String(one))} bytes)`)
    .join(', ')
}
