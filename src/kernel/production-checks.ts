// What production asks of a configuration beyond each value's own shape: nothing missing, nothing easily guessed, no secret
// for two purposes, and nothing confidential sent in the clear.
import { isPrivateOnItsWay, MAKE_ONE } from './config-checks.ts'
import { weakness } from './weak-secret.ts'

interface Rules {
  secret?: true
  minBytes?: number
  neededInProduction?: string
  neededUnless?: string
  httpsInProduction?: string
}

type Values = Readonly<Record<string, unknown>>

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
