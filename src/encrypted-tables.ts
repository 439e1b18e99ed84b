// Every table that holds values encrypted under SECRET_KEY, for `cloudops secrets reencrypt`. A column that is missing here
// is lost with the old key; a test looks for such columns.
import { encryptedSecrets } from './features/secrets/index.ts'
import { encryptedSessions } from './features/session/index.ts'
import { encryptedBackends } from './features/storage-backends/index.ts'
import { encryptedWebhooks } from './features/webhooks/index.ts'
import type { SecretKeys } from './kernel/crypto.ts'
import type { EncryptedTable } from './kernel/crypto-rotation.ts'
import { encryptedResponses } from './kernel/http/stored-response.ts'

export const encryptedTables = (secretKeys: SecretKeys): EncryptedTable[] => [
  encryptedSecrets(secretKeys),
  encryptedWebhooks(secretKeys),
  encryptedBackends(secretKeys),
  encryptedSessions(secretKeys),
  encryptedResponses(secretKeys),
]
