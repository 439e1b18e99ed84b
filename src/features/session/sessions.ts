// Browser sessions: a token is kept here, encrypted, and the browser holds the name of the place. The token is verified
// again at every request, so that a session outlives neither it nor the issuer's secret; and the row is read at every
// request, so that a session which is ended here is ended on every node.
import type { Deps } from '../../deps.ts'
import { type Encryption, encryptionFor, type SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Authenticator, Refused } from '../../kernel/http/auth.ts'
import type { Identity } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { deleteSessionsBefore, endSession, findSession, insertSession } from './store.ts'

export const sessionEncryptionOf = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('session tokens', secretKeys)

export const encryptedSessions = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'sessions',
  key: ['id'],
  columns: ['token'],
  reencrypt: sessionEncryptionOf(secretKeys).reencrypt,
  placeOf: ({ id }) => id!,
})

export interface Sessions {
  /** Begins a session with a token that has been verified; answers its id. */
  start(caller: Identity, token: string): Promise<string>
  verify(id: string): Promise<Identity | Refused>
  /** Ending one that has ended, or never was, is no error. */
  end(id: string): Promise<void>
}

export function createSessions(
  { db, clock }: Deps,
  encryption: Encryption,
  verifyToken: Authenticator['verifyToken'],
): Sessions {
  return {
    async start({ sub, tenantId, expiresAt }, token) {
      const id = newId()
      const row = {
        id,
        user_id: sub,
        tenant_id: tenantId,
        token: encryption.encrypt(token, id),
        created_at: clock.now().toISOString(),
        // A token always expires.
        expires_at: expiresAt!,
        ended_at: null,
      }
      await transaction(db, tx => insertSession(tx, row))
      return id
    },

    async verify(id) {
      const session = await findSession(db, id)
      if (!session) return { refused: 'there is no such session', id }
      if (session.token === null) return { refused: 'it was signed out', id }
      try {
        const { caller } = await verifyToken(encryption.decrypt(session.token, id))
        return { ...caller, via: 'session', credentialId: id }
      } catch (error) {
        if (!(error instanceof AppError)) return { refused: 'its token cannot be decrypted', id }
        if (error.kind !== 'unauthenticated') throw error
        return { refused: error.message, id }
      }
    },

    end: id => transaction(db, tx => endSession(tx, id, clock.now().toISOString())),
  }
}

export const forgetSessions = ({ db, clock }: Pick<Deps, 'db' | 'clock'>) => ({
  what: 'browser sessions whose token has expired',
  run: () => deleteSessionsBefore(db, clock.now().toISOString()),
})
