// Secrets: written, replaced, deleted, never shown.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { announce, Badge, Confirm, Dialog, Field, Form, Missing, Page, Table, Time } from '../../ui/index.ts'

type Secret = Schemas['Secret']

export default function Secrets() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/admin/secrets', { params: { query: { cursor } }, signal })),
    [],
    { every: 30_000 },
  )
  const [written, setWritten] = useState<Secret | 'new'>()
  const [deleted, setDeleted] = useState<Secret>()
  return (
    <Page
      title="Secrets"
      operation="listSecrets"
      actions={
        <button type="button" class="primary" onClick={() => setWritten('new')}>
          Create a secret
        </button>
      }
    >
      <Table
        label="Secrets"
        list={list}
        id={({ name }) => name}
        empty="There is none. provider_token/<queue> is the provider token of that queue."
        columns={[
          { name: 'Name', cell: ({ name }) => name },
          { name: 'Version', number: true, cell: ({ version }) => version },
          { name: 'Fingerprint', cell: ({ fingerprint }) => <code>{fingerprint}</code> },
          {
            name: 'State',
            cell: ({ readable }) => (
              <Badge tone={readable ? 'good' : 'bad'}>{readable ? 'usable' : 'under another key'}</Badge>
            ),
          },
          { name: 'Description', cell: ({ description }) => description ?? <Missing /> },
          { name: 'Written', cell: ({ updated_at }) => <Time at={updated_at} /> },
          { name: 'By', cell: ({ updated_by }) => updated_by },
          {
            name: 'Actions',
            cell: secret => (
              <span class="acts">
                <button
                  type="button"
                  class="plain"
                  aria-label={`Replace ${secret.name}`}
                  onClick={() => setWritten(secret)}
                >
                  Replace
                </button>
                <button
                  type="button"
                  class="plain"
                  aria-label={`Delete ${secret.name}`}
                  onClick={() => setDeleted(secret)}
                >
                  Delete
                </button>
              </span>
            ),
          },
        ]}
      />
      {written && (
        <Write
          secret={written === 'new' ? undefined : written}
          onClose={() => setWritten(undefined)}
          reload={list.reload}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete the secret ${deleted.name}?`}
          act="Delete"
          name={deleted.name}
          onClose={() => setDeleted(undefined)}
          run={async () => {
            const params = { path: { name: deleted.name } }
            await ok(api.DELETE('/api/v1/admin/secrets/{name}', { params }))
            announce(`${deleted.name} is deleted`)
            await list.reload()
          }}
        >
          <p>Its value is gone. A queue whose provider token it was asks with the common one again.</p>
        </Confirm>
      )}
    </Page>
  )
}

interface WriteProps {
  secret: Secret | undefined
  onClose: () => void
  reload: () => Promise<void>
}

const Write = ({ secret, onClose, reload }: WriteProps) => (
  <Dialog title={secret ? `Another value for ${secret.name}` : 'Create a secret'} onClose={onClose}>
    <Form
      submit={secret ? 'Replace' : 'Create'}
      cancel={onClose}
      done={onClose}
      send={async ({ name = '', value = '', description = null }) => {
        const { data } = await ok(
          secret
            ? api.PUT('/api/v1/admin/secrets/{name}', {
                params: { path: { name: secret.name } },
                body: { value, description },
              })
            : api.POST('/api/v1/admin/secrets', { body: { name, value, description } }),
        )
        announce(`${data.name} has version ${data.version}`)
        await reload()
      }}
    >
      {!secret && (
        <Field
          label="Name"
          name="name"
          required
          maxLength={128}
          help="provider_token/<queue> is the provider token of that queue."
        />
      )}
      <Field
        label="Value"
        name="value"
        type="secret"
        required
        maxLength={16_384}
        help="Kept encrypted, and never shown again. Spaces at its ends are left out."
      />
      <Field label="Description" name="description" maxLength={255} value={secret?.description ?? ''} />
    </Form>
  </Dialog>
)
