// /api/v1/admin/storage_backends
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, Id, NoBody, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { activateBackend, changeBackend, createBackend, deactivateBackend, deleteBackend } from './actions.ts'
import { checkBackend } from './check-backend.ts'
import { BACKEND_KINDS, StorageBackend } from './storage-backend.ts'
import { listBackends, showBackend } from './store.ts'

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

const CreateStorageBackend = Body(
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
    title: 'CreateStorageBackend',
    description: '`local`: `folder`. `s3`: all others but `prefix` and `path_style`, which may be left out.',
  },
)

const UpdateStorageBackend = Body(
  {
    name: Type.Optional(Name),
    endpoint: Type.Optional(Endpoint),
    region: Type.Optional(Region),
    path_style: Type.Optional(PathStyle),
    access_key_id: Type.Optional(AccessKeyId),
    secret_access_key: Type.Optional(SecretAccessKey),
  },
  {
    title: 'UpdateStorageBackend',
    description: 'How the backend is called and reached. Where its files are does not change: make another.',
  },
)

const StorageBackendCheck = noun('StorageBackendCheck', {
  ok: Type.Boolean(),
  error: Nullable(Type.String({ description: 'Which of writing, reading and removing failed, and why.' })),
})

const params = Type.Object({ id: Id })
const base = '/api/v1/admin/storage_backends'
const nameTaken = { 409: { name_taken: 'Another backend has this name.' } }

export const storageBackendRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Administration', guard: 'platform_admin' }, route => {
    const shown = async ({ db }: Pick<Deps, 'db'>, id: string) => {
      const json = await showBackend(db, id)
      if (json === undefined) throw notFound()
      return new JsonText(json)
    }

    route.list(
      base,
      {
        id: 'listStorageBackends',
        summary: 'List storage backends',
        description: 'Where raw invoice files are kept. Newest first.',
        items: StorageBackend,
        cursor: cursorOf('storage_backends', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ limit, after }) => listBackends(deps.db, limit, after),
    )

    route.post(
      base,
      {
        id: 'createStorageBackend',
        summary: 'Create a storage backend',
        description:
          'A place for raw invoice files. Nothing is kept there before it is activated. 409 `name_taken`.',
        problems: nameTaken,
        body: CreateStorageBackend,
        status: 201,
        data: StorageBackend,
      },
      async ({ deps, caller, body, reply }) => {
        const id = await createBackend(deps, body, caller.sub)
        reply.header('location', `${base}/${id}`)
        return shown(deps, id)
      },
    )

    route.get(
      `${base}/:id`,
      { id: 'getStorageBackend', summary: 'Get a storage backend', params, data: StorageBackend },
      ({ params }) => shown(deps, params.id),
    )

    route.patch(
      `${base}/:id`,
      {
        id: 'changeStorageBackend',
        summary: 'Update a storage backend',
        description: 'How it is called and reached.',
        problems: nameTaken,
        params,
        body: UpdateStorageBackend,
        data: StorageBackend,
      },
      async ({ deps, params, body }) => {
        await changeBackend(deps, params.id, body)
        return shown(deps, params.id)
      },
    )

    route.delete(
      `${base}/:id`,
      {
        id: 'deleteStorageBackend',
        summary: 'Delete a storage backend',
        description: '409 `backend_in_use` when it holds files.',
        problems: { 409: { backend_in_use: 'It holds files.' } },
        params,
        done: 'The backend is deleted.',
      },
      ({ deps, params }) => deleteBackend(deps, params.id),
    )

    route.post(
      `${base}/:id/activate`,
      {
        id: 'activateStorageBackend',
        summary: 'Activate a storage backend',
        description:
          'Files are kept there from now on. The one that was active before keeps what it holds. An invoice’s file that was fetched earlier is kept the next time it is fetched.',
        params,
        body: NoBody,
        data: StorageBackend,
      },
      async ({ deps, params }) => {
        await activateBackend(deps, params.id)
        return shown(deps, params.id)
      },
    )

    route.post(
      `${base}/:id/deactivate`,
      {
        id: 'deactivateStorageBackend',
        summary: 'Deactivate a storage backend',
        description: 'No more files are kept there; those it holds can still be read.',
        params,
        body: NoBody,
        data: StorageBackend,
      },
      async ({ deps, params }) => {
        await deactivateBackend(deps, params.id)
        return shown(deps, params.id)
      },
    )

    route.post(
      `${base}/:id/check`,
      {
        id: 'checkStorageBackend',
        summary: 'Check a storage backend',
        description: 'A small file is written, read back and removed, now. 200 also when that fails.',
        config: { storesNothing: true },
        params,
        body: NoBody,
        data: StorageBackendCheck,
      },
      ({ params }) => checkBackend(deps, params.id),
    )
  })
