// A checkpoint: where the chain stood at a time, signed, with the digest of the checkpoint before it. One that is kept
// elsewhere proves every entry and every checkpoint before it. Pure.
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { AuditKey, AuditKeys } from '../../kernel/audit-keys.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { fieldsOf, noun } from '../../kernel/noun.ts'
import { Hash, Seq } from './audit-entry.ts'
import type { Break, Link } from './chain.ts'

/** As it is shown, published and kept: with all that is needed to check it. */
export const CheckpointDocument = noun(
  'Checkpoint',
  {
    number: Type.Integer({ description: 'From 1 on, without gaps.' }),
    seq: Seq,
    entries: Type.Integer({ description: 'How many entries the chain had.' }),
    hash: Hash,
    at: Time,
    unkeyed: Type.Integer({
      description: 'How many of the first entries are from before the chain had a key.',
    }),
    previous: Type.String({ description: 'SHA-256 of the checkpoint before it; of the first, 64 zeros.' }),
    key_id: Type.String({ description: 'The first 16 hex digits of the public key’s SHA-256.' }),
    public_key: Nullable(
      Type.String({ description: 'Ed25519, in base64; null when its secret is no longer configured.' }),
    ),
    signature: Type.String({ description: 'Ed25519, in base64; docs/operations.md says of which text.' }),
  },
  { entries: '$.seq', public_key: null },
)

export type Document = Static<typeof CheckpointDocument>

export type Checkpoint = Omit<Row<'audit_checkpoints'>, 'published_at'>

/** Before the first. */
const NONE = '0'.repeat(64)

const signedText = ({ number, seq, hash, at, unkeyed, previous, key_id }: Omit<Checkpoint, 'signature'>) =>
  ['cloudops audit checkpoint', number, seq, hash, at, unkeyed, previous, key_id].join('\n')

export const digestOf = (checkpoint: Checkpoint): string =>
  createHash('sha256')
    .update(`${signedText(checkpoint)}\n${checkpoint.signature}`)
    .digest('hex')

/** The next one, of the link that is the chain's last now. */
export function checkpointAfter(
  before: Checkpoint | undefined,
  { seq, hash }: Link,
  { at, unkeyed, key }: { at: string; unkeyed: number; key: AuditKey },
): Checkpoint {
  const unsigned = {
    ...{ number: (before?.number ?? 0) + 1, seq, hash, at },
    unkeyed: before?.unkeyed ?? unkeyed,
    previous: before ? digestOf(before) : NONE,
    key_id: key.id,
  }
  return { ...unsigned, signature: key.sign(signedText(unsigned)) }
}

/** Why it is not one that this service signed; undefined when it is. */
export function signatureProblem(checkpoint: Checkpoint, keys: AuditKeys): string | undefined {
  const { number, key_id, signature } = checkpoint
  const key = keys.find(key_id)
  if (!key) return `checkpoint ${number} was signed with the key ${key_id}, which is not in SECRET_KEY`
  return key.verifies(signedText(checkpoint), signature)
    ? undefined
    : `the signature of checkpoint ${number} is not valid`
}

/** Goes along the next checkpoints: to the last of them, or to where they do not follow each other. */
export function followCheckpoints(
  before: Checkpoint | undefined,
  rows: readonly Checkpoint[],
): { last: Checkpoint | undefined; broken?: Break } {
  let last = before
  for (const row of rows) {
    const number = (last?.number ?? 0) + 1
    const reason =
      row.number === number
        ? `checkpoint ${number}, or the one before it, was changed`
        : `checkpoint ${number} is missing`
    const follows = row.number === number && row.previous === (last ? digestOf(last) : NONE)
    if (!follows) return { last, broken: { broken_at: row.seq, reason } }
    last = row
  }
  return { last }
}

export const documentOf = (checkpoint: Checkpoint, keys: AuditKeys): Document =>
  fieldsOf(CheckpointDocument, {
    ...checkpoint,
    entries: checkpoint.seq,
    public_key: keys.find(checkpoint.key_id)?.publicKey ?? null,
  })

/** How it is called in a storage backend. */
export const fileOf = (number: number): string => `audit/checkpoints/${String(number).padStart(12, '0')}.json`

const COMPARED = ['seq', 'hash', 'at', 'unkeyed', 'previous', 'key_id', 'signature'] as const

/** Why a copy that was kept elsewhere is not the checkpoint that stands here; undefined when it is. */
export function unlikeCopy(copy: Document, standing: Checkpoint | Document | undefined): Break | undefined {
  const { number, seq: broken_at } = copy
  if (!standing)
    return { broken_at, reason: `checkpoint ${number}, which is kept elsewhere, is missing here` }
  if (COMPARED.every(member => copy[member] === standing[member])) return undefined
  return { broken_at, reason: `checkpoint ${number} is not the one that is kept elsewhere` }
}

/** The document that a text holds; undefined when it holds none. */
export function documentIn(text: string): Document | undefined {
  try {
    const document: unknown = JSON.parse(text)
    return isDocument(document) ? document : undefined
  } catch {
    return undefined
  }
}

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' &&
  value !== null &&
  'number' in value &&
  Number.isSafeInteger(value.number) &&
  COMPARED.every(member => member in value)
