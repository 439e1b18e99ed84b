// API keys: the caller's own and, for a platform_admin, anybody's. A key is shown when it is made and never again.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filter } from '../../router.tsx'
import { may, session } from '../../session.tsx'
import {
  announce,
  Badge,
  type Column,
  Confirm,
  Dialog,
  Field,
  Filters,
  Form,
  instantOf,
  Missing,
  Once,
  Page,
  Table,
  Time,
} from '../../ui/index.ts'

type ApiKey = Schemas['ApiKey']
type Created = Schemas['CreatedApiKey']
type Opened =
  | { act: 'create' }
  | { act: 'rotate' | 'revoke'; key: ApiKey }
  | { act: 'show'; created: Created }

const isPlatformAdmin = () => session.value!.kind === 'platform_admin'

export default function ApiKeys() {
  const own = session.value!.sub
  const user = (isPlatformAdmin() && filter('user_id')) || own
  const list = useList(
    (cursor, signal) =>
      ok(
        api.GET('/api/v1/users/{user_id}/api_keys', {
          params: { path: { user_id: user }, query: { cursor } },
          signal,
        }),
      ),
    [user],
    { every: 30_000 },
  )
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  return (
    <Page
      title={user === own ? 'Your API keys' : `API keys of ${user}`}
      operation="listApiKeys"
      actions={
        may('createApiKey') && (
          <button type="button" class="primary" onClick={() => setOpened({ act: 'create' })}>
            Create a key
          </button>
        )
      }
    >
      {isPlatformAdmin() && <Filters fields={[{ name: 'user_id', label: 'User', search: true }]} />}
      <Table
        label="API keys"
        list={list}
        id={({ id }) => id}
        empty="There is none. A script sends one in place of a token."
        columns={columns(setOpened)}
      />
      {opened?.act === 'create' && <Create user={user} onClose={close} done={list.reload} show={setOpened} />}
      {opened?.act === 'rotate' && (
        <Rotate user={user} apiKey={opened.key} onClose={close} done={list.reload} show={setOpened} />
      )}
      {opened?.act === 'revoke' && (
        <Revoke user={user} apiKey={opened.key} onClose={close} done={list.reload} />
      )}
      {opened?.act === 'show' && (
        <Once title="The new API key" label="API key" value={opened.created.api_key} onClose={close}>
          <p>
            It acts as {opened.created.user_id}
            {opened.created.expires_at ? (
              <>
                {' '}
                until <Time at={opened.created.expires_at} />.
              </>
            ) : (
              ', until it is revoked.'
            )}
          </p>
        </Once>
      )}
    </Page>
  )
}

const stateOf = ({ is_active, revoked_at }: ApiKey) =>
  is_active ? 'active' : revoked_at ? 'revoked' : 'expired'

const columns = (open: (opened: Opened) => void): Column<ApiKey>[] => [
  { name: 'Key', cell: ({ key_prefix }) => <code>{key_prefix}…</code> },
  { name: 'Description', cell: ({ description }) => description ?? <Missing /> },
  { name: 'State', cell: key => <Badge>{stateOf(key)}</Badge> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { name: 'Expires', cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : 'never') },
  {
    name: 'Actions',
    cell: key =>
      key.is_active && (
        <span class="acts">
          {may('rotateApiKey') && (
            <button
              type="button"
              class="plain"
              aria-label={`Rotate ${key.key_prefix}`}
              onClick={() => open({ act: 'rotate', key })}
            >
              Rotate
            </button>
          )}
          {may('revokeApiKey') && (
            <button
              type="button"
              class="plain"
              aria-label={`Revoke ${key.key_prefix}`}
              onClick={() => open({ act: 'revoke', key })}
            >
              Revoke
            </button>
          )}
        </span>
      ),
  },
]

interface ActProps {
  user: string
  onClose: () => void
  done: () => Promise<void>
  show: (opened: Opened) => void
}

const Create = ({ user, onClose, done, show }: ActProps) => (
  <Dialog title={`Create a key for ${user}`} onClose={onClose}>
    <Form
      submit="Create"
      cancel={onClose}
      send={async ({ description, expires_at, tenant_id }) => {
        const body = {
          ...(description && { description }),
          ...(tenant_id && { tenant_id }),
          expires_at: instantOf(expires_at) ?? null,
        }
        const params = { path: { user_id: user } }
        const { data } = await ok(api.POST('/api/v1/users/{user_id}/api_keys', { params, body }))
        await done()
        show({ act: 'show', created: data })
      }}
    >
      <Field label="Description" name="description" maxLength={255} help="What it is for." />
      <Field label="Expires" name="expires_at" type="datetime-local" help="Left empty: never." />
      {isPlatformAdmin() && (
        <Field
          label="Tenant"
          name="tenant_id"
          maxLength={128}
          help="The tenant it acts in. Left empty: that of your token."
        />
      )}
    </Form>
  </Dialog>
)

const Rotate = ({ user, apiKey, onClose, done, show }: ActProps & { apiKey: ApiKey }) => (
  <Dialog title={`Rotate ${apiKey.key_prefix}`} onClose={onClose}>
    <p>A new key with the same rights takes its place.</p>
    <Form
      submit="Rotate"
      cancel={onClose}
      send={async ({ hours = '0' }) => {
        const params = { path: { user_id: user, key_id: apiKey.id } }
        const body = { grace_seconds: Math.round(Number(hours) * 3_600) }
        const { data } = await ok(
          api.POST('/api/v1/users/{user_id}/api_keys/{key_id}/rotate', { params, body }),
        )
        await done()
        show({ act: 'show', created: data })
      }}
    >
      <Field
        label="Hours that the old key lives on"
        name="hours"
        type="number"
        min={0}
        max={720}
        step="any"
        value="0"
        required
      />
    </Form>
  </Dialog>
)

const Revoke = ({ user, apiKey, onClose, done }: Omit<ActProps, 'show'> & { apiKey: ApiKey }) => (
  <Confirm
    title={`Revoke ${apiKey.key_prefix}?`}
    act="Revoke"
    name={apiKey.key_prefix}
    onClose={onClose}
    run={async ({ reason = null }) => {
      const params = { path: { user_id: user, key_id: apiKey.id } }
      await ok(api.DELETE('/api/v1/users/{user_id}/api_keys/{key_id}', { params, body: { reason } }))
      announce(`${apiKey.key_prefix} is revoked`)
      await done()
    }}
  >
    <p>It is refused from the next request on.</p>
    <Field label="Reason" name="reason" maxLength={500} />
  </Confirm>
)
