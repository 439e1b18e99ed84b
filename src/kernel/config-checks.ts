// What a single configuration value may look like, and what production asks of all together. Each check returns the value or
// throws a `BadValue`: what is wrong, in words that say how to put it right. They know no variable's name.
import { isIP } from 'node:net'
import { addressIn, isLinkLocalAddress } from './addresses.ts'
import { shortness, weakness } from './config-secrets.ts'

export type Check<T> = (raw: string) => T

export class BadValue extends Error {}

export const text: Check<string> = raw => raw

export const integer =
  (min: number, max: number): Check<number> =>
  raw => {
    const value = Number(raw)
    if (!/^\d+$/.test(raw) || value < min || value > max) {
      const unit = /^\d+\s*[a-z%]+$/i.test(raw) ? ': write it without a unit' : ''
      throw new BadValue(`is not a whole number from ${min} to ${max}${unit}`)
    }
    return value
  }

export const port: Check<number> = integer(0, 65_535)

export const oneOf =
  <const T extends string>(values: readonly T[]): Check<T> =>
  raw => {
    const found = values.find(value => value === raw)
    if (!found) throw new BadValue(`is none of ${values.join(', ')}`)
    return found
  }

export const flag: Check<boolean> = raw => oneOf(['true', 'false'])(raw) === 'true'

/** What no value is meant to have. A secret is exempt: whatever it holds, it has worked with it so far. */
export function plain(raw: string): string {
  if (/^(["'`]).*\1$/s.test(raw)) throw new BadValue('has quotes around it: take them out')
  if (/\p{Cc}/u.test(raw)) throw new BadValue('holds a line break or another control character')
  return raw
}

/** Encrypted on its way, or not leaving this machine. */
export function isPrivateOnItsWay(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

export const url: Check<string> = raw => parsedUrl(raw) && raw.replace(/\/+$/, '')

/** The address of one document: a slash at its end may be part of it. */
export const documentUrl: Check<string> = raw => {
  const digits = addressIn(parsedUrl(raw))
  if (digits !== undefined && isLinkLocalAddress(digits)) throw new BadValue('points to a link-local address')
  return raw
}

function parsedUrl(raw: string): URL {
  const parsed = URL.parse(raw)
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new BadValue('is not an http:// or https:// address')
  if (parsed.username || parsed.password) throw new BadValue('holds a user name or password: take it out')
  return parsed
}

export const databaseUrl: Check<string> = raw => {
  const parsed = URL.parse(raw)
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new BadValue('is not a PostgreSQL address: write postgres://user:password@host:5432/database')
  }
  return raw
}

export const origin: Check<string> = raw => {
  const parsed = URL.parse(raw)
  if (!parsed || parsed.origin !== raw)
    throw new BadValue('is not an origin: write http://localhost:5173, with no path')
  return raw
}

export const domain: Check<string> = raw => {
  if (!/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/.test(raw)) {
    throw new BadValue('is not a domain name: write example.com, in lower case, with no scheme')
  }
  return raw
}

const PROXY_NETWORKS = ['loopback', 'linklocal', 'uniquelocal']

/** Which proxies are believed. `true` is not offered: it would let every caller name the address it is counted by. */
export const proxies: Check<false | number | string[]> = raw => {
  if (raw === 'false') return false
  if (/^[1-9]\d?$/.test(raw)) return Number(raw)
  const list = raw.split(',').map(part => part.trim())
  const isNetwork = (part: string) => {
    const [address = '', bits, ...more] = part.split('/')
    const most = isIP(address) === 4 ? 32 : 128
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
    return isIP(address) !== 0 && fits && more.length === 0
  }
  if (!list.every(part => isNetwork(part) || PROXY_NETWORKS.includes(part)))
    throw new BadValue(
      'is not how many proxies there are (1), nor a list of their addresses and networks (10.0.0.7, 10.0.0.0/8, loopback)',
    )
  return list
}

export const SECRET_BYTES = 32

/** A secret of any length; production asks for more (`weakness`). */
export const secret: Check<string> = raw => raw

/** Several during a rotation: the first is the one that is used, the others are still understood. */
export const secretList =
  (minBytes: number): Check<string[]> =>
  raw => {
    const list = raw.split(',').map(part => part.trim())
    if (list.some(part => part === ''))
      throw new BadValue('has an empty entry: separate secrets with single commas')
    if (new Set(list).size < list.length) throw new BadValue('lists one secret twice')
    for (const part of list) {
      const short = shortness(part, minBytes)
      if (short) throw new BadValue(`${short}: ${MAKE_ONE}`)
    }
    return list
  }

export const MAKE_ONE = 'make one with `openssl rand -base64 48`'

interface Rules {
  secret?: true
  minBytes?: number
  neededInProduction?: string
  neededUnless?: string
  httpsInProduction?: string
}

type Values = Readonly<Record<string, unknown>>

/** Nothing missing, nothing easily guessed, no secret for two purposes, nothing confidential sent in the clear. */
export function productionProblems(
  variables: Readonly<Record<string, Rules>>,
  values: Values,
  sources: Readonly<Record<string, string>>,
): string[] {
  const problems: string[] = []
  for (const [name, rules] of Object.entries(variables)) {
    const { minBytes, neededInProduction: needed, neededUnless: other = '', httpsInProduction: why } = rules
    const value = values[name]
    if (needed !== undefined && sources[name] === 'not set' && values[other] === undefined)
      problems.push(`${name} must be set in production: ${needed}`)
    if (minBytes !== undefined)
      for (const secret of [value ?? []].flat() as string[]) {
        const weak = weakness(secret, minBytes)
        if (weak) problems.push(`${name} ${weak}: ${MAKE_ONE}`)
      }
    if (why !== undefined && typeof value === 'string' && !isPrivateOnItsWay(value))
      problems.push(`${name} must be https:// in production: ${why}`)
  }
  return [...problems, ...sharedSecrets(variables, values)]
}

/** Whoever learns a secret in one place must not have the other with it. */
function sharedSecrets(variables: Readonly<Record<string, Rules>>, values: Values): string[] {
  const users = new Map<string, string>()
  const problems: string[] = []
  for (const [name, { secret }] of Object.entries(variables)) {
    if (!secret) continue
    for (const value of secretsIn(values[name])) {
      const other = users.get(value)
      if (other !== undefined && other !== name)
        problems.push(`${name} is the same as ${other}: give each a secret of its own`)
      users.set(value, other ?? name)
    }
  }
  return problems
}

/** Those of a list, and the password in an address. */
const secretsIn = (value: unknown): string[] =>
  ([value ?? []].flat() as string[]).map(one => {
    const password = /^postgres/.test(one) ? URL.parse(one)?.password : undefined
    return password ? decoded(password) : one
  })

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
