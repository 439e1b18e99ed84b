// What a single configuration value may look like. Each check returns the value or throws a `Mend`: what is
// wrong, in words that say how to put it right. They know no variable's name.
import { isIP } from 'node:net'
import { addressIn, isLinkLocalAddress } from './net/addresses.ts'
import { shortness } from './weak-secret.ts'

export type Check<T> = (raw: string) => T

export class Mend extends Error {}

export const text: Check<string> = raw => raw

export const integer =
  (min: number, max: number): Check<number> =>
  raw => {
    const value = Number(raw)
    if (!/^\d+$/.test(raw) || value < min || value > max) {
      const unit = /^\d+\s*[a-z%]+$/i.test(raw) ? ': write it without a unit' : ''
      throw new Mend(`is not a whole number from ${min} to ${max}${unit}`)
    }
    return value
  }

export const port: Check<number> = integer(0, 65_535)

export const oneOf =
  <const T extends string>(values: readonly T[]): Check<T> =>
  raw => {
    const found = values.find(value => value === raw)
    if (!found) throw new Mend(`is none of ${values.join(', ')}`)
    return found
  }

export const flag: Check<boolean> = raw => oneOf(['true', 'false'])(raw) === 'true'

/** What no value is meant to have. A secret is exempt: whatever it holds, it has worked with it so far. */
export function plain(raw: string): string {
  if (/^(["'`]).*\1$/s.test(raw)) throw new Mend('has quotes around it: take them out')
  if (/\p{Cc}/u.test(raw)) throw new Mend('holds a line break or another control character')
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
  if (digits !== undefined && isLinkLocalAddress(digits)) throw new Mend('points to a link-local address')
  return raw
}

function parsedUrl(raw: string): URL {
  const parsed = URL.parse(raw)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new Mend('is not an http:// or https:// address')
  if (parsed.username || parsed.password) throw new Mend('holds a user name or password: take it out')
  return parsed
}

export const databaseUrl: Check<string> = raw => {
  const parsed = URL.parse(raw)
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new Mend('is not a PostgreSQL address: write postgres://user:password@host:5432/database')
  }
  return raw
}

export const origin: Check<string> = raw => {
  const parsed = URL.parse(raw)
  if (!parsed || parsed.origin !== raw)
    throw new Mend('is not an origin: write http://localhost:5173, with no path')
  return raw
}

export const domain: Check<string> = raw => {
  if (!/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/.test(raw)) {
    throw new Mend('is not a domain name: write example.com, in lower case, with no scheme')
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
    throw new Mend(
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
      throw new Mend('has an empty entry: separate secrets with single commas')
    if (new Set(list).size < list.length) throw new Mend('lists one secret twice')
    for (const part of list) {
      const short = shortness(part, minBytes)
      if (short) throw new Mend(`${short}: ${MAKE_ONE}`)
    }
    return list
  }

export const MAKE_ONE = 'make one with `openssl rand -base64 48`'
