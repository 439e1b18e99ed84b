// /api/v1/admin/storage_backends

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, NoBody, One, Query } from '../../kernel/http/schemas.ts'
import { activateBackend, deactivateBackend } from './activate-backend.ts'
import { changeBackend } from './change-backend.ts'
import { checkBackend } from './check-backend.ts'
import { createBackend } from './create-backend.ts'
import { removeBackend } from './remove-backend.ts'
import { findShownBackend, listBackends } from './repository.ts'
import { BackendParams, ChangeBody, Check, CreateBody, StorageBackend } from './schemas.ts'

const config = { guard: 'platform_admin' } as const
const names = { ...config, problems: { 409: { name_taken: 'Another backend has this name.' } } } as const
const tags = ['Administration']
const base = '/api/v1/admin/storage_backends'

export function storageBackendRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('storage_backends', ['uuid'])
  const find = async ({ db }: Deps, id: string) => {
    const backend = await findShownBackend(db, id)
    if (!backend) throw notFound()
    return { data: backend }
  }

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listStorageBackends',
          summary: 'List the storage backends',
          description: 'Where raw invoice files are kept. Newest first.',
          querystring: Query(PageQuery),
          response: { 200: Many(StorageBackend) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listBackends(deps.db, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows, limit, row => [row.id]),
        )
      },
    )

    app.post(
      base,
      {
        config: { ...names },
        schema: {
          tags,
          operationId: 'createStorageBackend',
          summary: 'Name a place for raw invoice files',
          description: 'Nothing is kept there before it is activated. 409 `name_taken`.',
          body: CreateBody,
          response: { 201: One(StorageBackend) },
        },
      },
      async (request, reply) => {
        const inThis = inRequest(deps, request)
        const id = await createBackend(inThis, request.body, callerOf(request).sub)
        reply.code(201).header('location', `${base}/${id}`)
        return find(inThis, id)
      },
    )

    app.get(
      `${base}/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getStorageBackend',
          summary: 'Show a storage backend',
          params: BackendParams,
          response: { 200: One(StorageBackend) },
        },
      },
      request => find(deps, request.params.id),
    )

    app.patch(
      `${base}/:id`,
      {
        config: names,
        schema: {
          tags,
          operationId: 'changeStorageBackend',
          summary: 'Change how a storage backend is called and reached',
          params: BackendParams,
          body: ChangeBody,
          response: { 200: One(StorageBackend) },
        },
      },
      async request => {
        await changeBackend(deps, request.params.id, request.body)
        return find(deps, request.params.id)
      },
    )

    app.delete(
      `${base}/:id`,
      {
        config: { ...config, problems: { 409: { backend_in_use: 'It holds files.' } } },
        schema: {
          tags,
          operationId: 'deleteStorageBackend',
          summary: 'Forget a storage backend',
          description: '409 `backend_in_use` when it holds files.',
          params: BackendParams,
          response: { 204: Type.Null({ description: 'The backend is forgotten.' }) },
        },
      },
      async (request, reply) => {
        await removeBackend(deps, request.params.id)
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${base}/:id/activate`,
      {
        config,
        schema: {
          tags,
          operationId: 'activateStorageBackend',
          summary: 'Keep files in this backend from now on',
          description:
            'The one that was active before keeps what it holds. An invoice’s file that was fetched earlier is kept the next time it is fetched.',
          params: BackendParams,
          body: NoBody,
          response: { 200: One(StorageBackend) },
        },
      },
      async request => {
        const inThis = inRequest(deps, request)
        await activateBackend(inThis, request.params.id)
        return find(inThis, request.params.id)
      },
    )

    app.post(
      `${base}/:id/deactivate`,
      {
        config,
        schema: {
          tags,
          operationId: 'deactivateStorageBackend',
          summary: 'Keep no more files in this backend',
          description: 'Those it holds can still be read.',
          params: BackendParams,
          body: NoBody,
          response: { 200: One(StorageBackend) },
        },
      },
      async request => {
        const inThis = inRequest(deps, request)
        await deactivateBackend(inThis, request.params.id)
        return find(inThis, request.params.id)
      },
    )

    app.post(
      `${base}/:id/check`,
      {
        config: { ...config, storesNothing: true },
        schema: {
          tags,
          operationId: 'checkStorageBackend',
          summary: 'Try a storage backend out',
          description: 'A small file is written, read back and removed, now. 200 also when that fails.',
          params: BackendParams,
          body: NoBody,
          response: { 200: One(Check) },
        },
      },
      async request => ({ data: await checkBackend(deps, request.params.id) }),
    )
  }
}
