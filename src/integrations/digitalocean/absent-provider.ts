// What stands in where no token was given: every call fails, saying so, and nothing is ever sent.
import { ProviderError } from './errors.ts'
import type { Provider } from './provider.ts'

export function absentProvider(reason: string): Provider {
  const refuse = () => {
    throw new ProviderError(reason, { kind: 'network' })
  }
  return new Proxy({ absent: reason, allowance: () => null, close: async () => {} } as Provider, {
    get: (target, name) => (Object.hasOwn(target, name) ? Reflect.get(target, name) : refuse),
  })
}
