// /api/v1/admin/secrets. A name of two parts stands in the path as it is, or with its slash encoded.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, Nullable } from '../../kernel/http/schemas.ts'
import { createSecret, deleteSecret, putSecret } from './actions.ts'
import { LONGEST_NAME, NAME_PATTERN, PART_PATTERN, Secret, type SecretRow, shownSecret } from './secret.ts'
import { findSecret, listSecrets } from './store.ts'

const LONGEST_VALUE = 16_384

const Name = Type.String({
  maxLength: LONGEST_NAME,
  pattern: NAME_PATTERN,
  description: '`part` or `part/part`. `provider_token/<queue>` is the provider token of that queue.',
})
const Part = Type.String({ maxLength: LONGEST_NAME, pattern: PART_PATTERN })
const Value = Type.String({
  minLength: 1,
  maxLength: LONGEST_VALUE,
  writeOnly: true,
  description:
    'Kept as it stands, encrypted, and never shown again. A provider token is ASCII without spaces.',
})
const Description = Nullable(Type.String({ maxLength: 255 }))

const CreateSecret = Body(
  { name: Name, value: Value, description: Type.Optional(Description) },
  { title: 'CreateSecret' },
)
const PutSecret = Body(
  {
    value: Value,
    description: Type.Optional({ ...Description, description: 'By default what stands already.' }),
  },
  { title: 'PutSecret' },
)

interface Params {
  group?: string
  name: string
}
const nameIn = ({ group, name }: Params): string => (group === undefined ? name : `${group}/${name}`)

const base = '/api/v1/admin/secrets'
const locationOf = ({ name }: SecretRow) => `${base}/${encodeURIComponent(name)}`

/** The same operations under both; the API's description has them once. */
const PATHS = [
  { path: `${base}/:name`, params: Type.Unsafe<Params>(Type.Object({ name: Name })), hidden: false },
  {
    path: `${base}/:group/:name`,
    params: Type.Unsafe<Params>(Type.Object({ group: Part, name: Part })),
    hidden: true,
  },
]

export const secretRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Administration', guard: 'platform_admin' }, route => {
    const { vault } = deps

    route.list(
      base,
      {
        id: 'listSecrets',
        summary: 'List secrets',
        description: 'By name. Their values are never shown.',
        items: Secret,
        cursor: cursorOf('secrets', ['text']),
        key: (secret: { name: string }) => [secret.name],
      },
      async ({ limit, after }) =>
        (await listSecrets(deps.db, limit, after)).map(row => shownSecret(vault, row)),
    )

    route.post(
      base,
      {
        id: 'createSecret',
        summary: 'Create a secret',
        description: 'Encrypted, and never shown again. 409 `secret_exists`; a PUT gives it another value.',
        problems: { 409: { secret_exists: 'There is a secret of that name.' } },
        body: CreateSecret,
        status: 201,
        data: Secret,
      },
      async ({ deps, caller, body: { name, ...given }, reply }) => {
        const row = await createSecret(deps, name, given, caller.sub)
        reply.header('location', locationOf(row))
        return shownSecret(vault, row)
      },
    )

    for (const { path, params, hidden } of PATHS) {
      route.get(
        path,
        {
          id: 'getSecret',
          summary: 'Get a secret',
          description: 'All but its value. The slash of a name may be encoded or not.',
          hidden,
          params,
          data: Secret,
        },
        async ({ params }) => {
          const row = await findSecret(deps.db, nameIn(params))
          if (!row) throw notFound()
          return shownSecret(vault, row)
        },
      )

      route.put(
        path,
        {
          id: 'putSecret',
          summary: 'Create or update a secret',
          description:
            '201 when it is new, otherwise 200 with the next version; the value that stands already changes nothing. A queue’s provider token is used by every process within 10 seconds.',
          hidden,
          params,
          body: PutSecret,
          mayCreate: true,
          data: Secret,
        },
        async ({ deps, caller, params, body, reply }) => {
          const { row, created } = await putSecret(deps, nameIn(params), body, caller.sub)
          if (created) reply.code(201).header('location', locationOf(row))
          return shownSecret(vault, row)
        },
      )

      route.delete(
        path,
        {
          id: 'deleteSecret',
          summary: 'Delete a secret',
          description: 'A queue whose provider token it was asks with the common one again.',
          hidden,
          params,
          done: 'It is gone.',
        },
        ({ deps, params }) => deleteSecret(deps, nameIn(params)),
      )
    }
  })
