// A version whose items contradict each other is refused whole, with every fault named.
import { invalid } from '../../kernel/errors.ts'
import { itemErrors, type VersionTerms } from './version-terms.ts'

export function refuseBadItems({ items }: VersionTerms): void {
  const errors = itemErrors(items, '/items')
  if (errors.length > 0) throw invalid('The body is not acceptable.', errors)
}
