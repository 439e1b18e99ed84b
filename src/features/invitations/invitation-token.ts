// What is handed to the invited: inv_<43 base62>, as strong as a key. Only its hash is kept.
import { createHash } from 'node:crypto'
import { randomDigits, SECRET_LENGTH } from '../../kernel/crypto.ts'

export const newToken = (): string => `inv_${randomDigits(SECRET_LENGTH)}`

/** Invitations are found by this alone, so that how long a look takes says nothing about any token. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
