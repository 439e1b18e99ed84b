// The names under which a project holds resources, `do:<type>:<id>`, and back from a name to a kind. Pure.
import { type Kind, kindEntry, kindNames } from './kinds.ts'

export function urnOf(kind: Kind, providerId: string): string | null {
  const type = kindEntry(kind).urn
  if (type === null) return null
  const isIpv6 = kind === 'reserved_ip' && providerId.includes(':')
  return `do:${isIpv6 ? 'reservedipv6' : type}:${providerId}`
}

/**
 * Projects answer with `floatingip` for what is a reserved IP everywhere else, and clients write `reservedip`:
 * both are understood, so match resources by what this returns and not by comparing names.
 */
const kindOfType = new Map<string | null | undefined, Kind>([
  ...kindNames.map(kind => [kindEntry(kind).urn, kind] as const),
  ['reservedip', 'reserved_ip'],
  ['reservedipv6', 'reserved_ip'],
])

/** Null for a name that is none, or of a kind the inventory does not hold (a Space). */
export function resourceOfUrn(urn: string): { kind: Kind; provider_id: string } | null {
  // The id may itself contain colons: an IPv6 address does.
  const [, type, id] = /^do:([a-z0-9]+):(.+)$/.exec(urn) ?? []
  const kind = kindOfType.get(type)
  return kind && id ? { kind, provider_id: id } : null
}
