// Where secrets are encrypted; their fingerprints are keyed, and follow.

import type { SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import { createVault } from '../../kernel/vault.ts'

export function encryptedSecrets(secretKeys: SecretKeys): EncryptedTable {
  const vault = createVault(secretKeys)
  return {
    table: 'secrets',
    key: ['name'],
    columns: ['sealed'],
    reencrypt: (sealed, name) => vault.reencrypt(name, sealed),
    placeOf: ({ name }) => name!,
    derived: ({ name, sealed }) => ({ fingerprint: vault.fingerprint(vault.decrypt(name!, sealed!)!) }),
  }
}
