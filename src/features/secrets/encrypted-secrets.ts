// Where secrets are encrypted; their fingerprints are keyed, and follow.
import type { EncryptedTable } from '../../kernel/reencrypt.ts'
import type { SecretKeys } from '../../kernel/sealed.ts'
import { createVault } from '../../kernel/vault.ts'

export function encryptedSecrets(secretKeys: SecretKeys): EncryptedTable {
  const vault = createVault(secretKeys)
  return {
    table: 'secrets',
    key: ['name'],
    columns: ['sealed'],
    renew: (sealed, name) => vault.renew(name, sealed),
    placeOf: ({ name }) => name!,
    derived: ({ name, sealed }) => ({ fingerprint: vault.fingerprint(vault.open(name!, sealed!)!) }),
  }
}
