// The API's words for storage backends.
import { Type } from 'typebox'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { BACKEND_KINDS } from './tables.ts'

export const BackendParams = Type.Object({ id: Id })

const Name = Type.String({ minLength: 1, maxLength: 64, pattern: '\\S', description: 'Unique.' })
const Endpoint = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'https; plain http only to this machine, and not in production.',
})
const Region = Type.String({ minLength: 1, maxLength: 64 })
const PathStyle = Type.Boolean({
  description:
    'Whether the bucket is named in the path (unless said otherwise, it is) or in the host’s name.',
})
const AccessKeyId = Type.String({ minLength: 1, maxLength: 128 })
const SecretAccessKey = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Stored encrypted, and never shown.',
})

export const CreateBody = Body(
  {
    name: Name,
    kind: Type.Enum([...BACKEND_KINDS]),
    folder: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Below `storage` in the data folder.' }),
    ),
    endpoint: Type.Optional(Endpoint),
    bucket: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    region: Type.Optional(Region),
    prefix: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'What every key in the bucket begins with.',
        }),
      ),
    ),
    path_style: Type.Optional(PathStyle),
    access_key_id: Type.Optional(AccessKeyId),
    secret_access_key: Type.Optional(SecretAccessKey),
  },
  {
    description: '`local`: `folder`. `s3`: all others but `prefix` and `path_style`, which may be left out.',
  },
)

export const ChangeBody = Body(
  {
    name: Type.Optional(Name),
    endpoint: Type.Optional(Endpoint),
    region: Type.Optional(Region),
    path_style: Type.Optional(PathStyle),
    access_key_id: Type.Optional(AccessKeyId),
    secret_access_key: Type.Optional(SecretAccessKey),
  },
  {
    description: 'How the backend is called and reached. Where its files are does not change: make another.',
  },
)

export const StorageBackend = Type.Object({
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
})

export const Check = Type.Object({
  ok: Type.Boolean(),
  error: Nullable(Type.String({ description: 'Which of writing, reading and removing failed, and why.' })),
})
