// What a storage backend looks like, and which settings it can have: those of its kind, all that it needs, and none that
// would lead out of its place.
import { Type } from 'typebox'
import { type Encryption, encryptionFor, type SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

export const BACKEND_KINDS = ['local', 's3'] as const
export type BackendKind = (typeof BACKEND_KINDS)[number]

export const StorageBackend = noun(
  'StorageBackend',
  {
    id: Id,
    name: Type.String(),
    kind: Type.Enum([...BACKEND_KINDS]),
    active: Type.Boolean({ description: 'Files are kept in the active one; at most one is.' }),
    folder: Nullable(Type.String()),
    endpoint: Nullable(Type.String()),
    bucket: Nullable(Type.String()),
    region: Nullable(Type.String()),
    prefix: Nullable(Type.String()),
    path_style: Nullable(Type.Boolean()),
    access_key_id: Nullable(Type.String()),
    files: Type.Integer({ description: 'How many it holds. With any it cannot be deleted.' }),
    created_at: Time,
    created_by: Type.String(),
    updated_at: Time,
  },
  { files: '(select count(*)::int from invoice_files f where f.backend_id = $.id)' },
)

/** A file `f`, with its backend `b`. */
export const InvoiceFile = noun(
  'InvoiceFile',
  {
    backend_id: Id,
    backend: Type.String({ description: 'The storage backend’s name.' }),
    key: Type.String(),
    bytes: Type.Integer(),
    sha256: Type.String(),
    kept_at: Time,
  },
  { backend: 'b.name' },
  'A raw file of an invoice, where it is kept.',
)

/** `folder` is a local backend’s, the others an S3-compatible one’s; `secret_access_key` is encrypted. */
export type StorageBackendRow = Row<'storage_backends'>

/**
 * `key` is without the backend's folder or prefix. `lost_at`: when the file was found to be gone, or to be another one; null
 * again once it is put there anew.
 */
export type InvoiceFileRow = Row<'invoice_files'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    storage_backends: { kind: BackendKind }
  }
}

export const storageEncryptionOf = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('storage backends', secretKeys)

/** For the rotation of SECRET_KEY. */
export const encryptedBackends = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'storage_backends',
  key: ['id'],
  columns: ['secret_access_key'],
  reencrypt: storageEncryptionOf(secretKeys).reencrypt,
  placeOf: ({ id }) => id!,
})

export interface Settings {
  kind: BackendKind
  folder?: string
  endpoint?: string
  bucket?: string
  region?: string
  prefix?: string | null
  path_style?: boolean
  access_key_id?: string
  secret_access_key?: string
}

type Name = Exclude<keyof Settings, 'kind'>

const KIND_OF: Record<Name, BackendKind> = {
  folder: 'local',
  endpoint: 's3',
  bucket: 's3',
  region: 's3',
  prefix: 's3',
  path_style: 's3',
  access_key_id: 's3',
  secret_access_key: 's3',
}
const OPTIONAL: readonly Name[] = ['prefix', 'path_style']

/** Named in the path: every service understands that, whatever its certificate and its DNS. */
export const DEFAULT_PATH_STYLE = true

const PATH =
  'must be names of letters, digits, ".", "_" and "-", with "/" between them and no "." or ".." among them'
const PATTERNS: Partial<Record<Name, [RegExp, string]>> = {
  folder: [/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/, PATH],
  prefix: [/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/, PATH],
  bucket: [/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be 3 to 63 small letters, digits, "." and "-"'],
  region: [/^[a-z0-9-]+$/, 'must be small letters, digits and "-", such as us-east-1'],
  access_key_id: [/^[\w.+=@:-]+$/, 'must be letters, digits and any of "_.+=@:-"'],
  secret_access_key: [/^[!-~]+$/, 'must be printable ASCII characters without spaces'],
}

export type EndpointProblem = (endpoint: string, pathStyle: boolean) => string | undefined

/** Everything that is wrong, each with its pointer. */
export function settingsProblems(settings: Settings, endpointProblem: EndpointProblem): FieldError[] {
  return (Object.keys(KIND_OF) as Name[]).flatMap(name => {
    const message = problemOf(name, settings, endpointProblem)
    return message === undefined ? [] : [{ pointer: `/${name}`, message }]
  })
}

function problemOf(name: Name, settings: Settings, endpointProblem: EndpointProblem): string | undefined {
  const value = settings[name] ?? undefined
  const [kind, its] = [settings.kind, KIND_OF[name]]
  if (value === undefined) {
    const needed = kind === its && !OPTIONAL.includes(name)
    return needed ? `is required for kind ${kind}` : undefined
  }
  if (kind !== its) return `is for kind ${its} alone`
  if (name === 'endpoint') return endpointProblem(String(value), settings.path_style ?? DEFAULT_PATH_STYLE)
  const [pattern, message] = PATTERNS[name] ?? []
  return pattern && !pattern.test(String(value)) ? message : undefined
}
