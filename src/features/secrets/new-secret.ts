// A secret as it is first written: acceptable, sealed for its name, version 1.
import type { Deps } from '../../deps.ts'
import { invalid } from '../../kernel/errors.ts'
import { complaintsAbout } from './bad-secret.ts'
import type { SecretRow } from './tables.ts'

export interface SecretValue {
  value: string
  /** Not given: what stands stays. */
  description?: string | null
}

export function newSecret(
  { clock, vault }: Deps,
  name: string,
  { value, description = null }: SecretValue,
  by: string,
): SecretRow {
  const errors = complaintsAbout(name, value)
  if (errors.length > 0) throw invalid('The secret is not acceptable.', errors)
  const at = clock.now().toISOString()
  return {
    name,
    version: 1,
    sealed: vault.encrypt(name, value),
    fingerprint: vault.fingerprint(value),
    description,
    created_at: at,
    created_by: by,
    updated_at: at,
    updated_by: by,
  }
}
