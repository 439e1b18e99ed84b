// Where raw invoice files are kept: a folder or a bucket, tried before it is used.
import { useState } from 'preact/hooks'
import { api, ok, Problem, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { ActButton, announce, Badge, type Column, Confirm, Page, Table, Time } from '../../ui/index.ts'
import { BackendForm } from './backend-form.tsx'

export type Backend = Schemas['StorageBackend']
type Opened = { act: 'create' } | { act: 'edit' | 'delete'; backend: Backend }

export default function Storage() {
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/storage_backends', { params: { query: { cursor } }, signal })),
    [],
    { every: 30_000 },
  )
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  return (
    <Page
      title="Storage backends"
      operation="listStorageBackends"
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ act: 'create' })}>
          Add a backend
        </button>
      }
    >
      <Table
        label="Storage backends"
        list={list}
        id={({ id }) => id}
        empty="There is none, so the provider’s invoice files are not kept. Name a folder or an S3-compatible bucket."
        columns={columns(setOpened, list.reload)}
      />
      {opened?.act === 'create' && <BackendForm onClose={close} reload={list.reload} />}
      {opened?.act === 'edit' && (
        <BackendForm backend={opened.backend} onClose={close} reload={list.reload} />
      )}
      {opened?.act === 'delete' && (
        <Confirm
          title={`Delete the backend ${opened.backend.name}?`}
          act="Delete"
          name={opened.backend.name}
          onClose={close}
          run={async () => {
            const params = { path: { id: opened.backend.id } }
            await ok(api.DELETE('/api/v1/admin/storage_backends/{id}', { params }))
            announce(`${opened.backend.name} is deleted`)
            await list.reload()
          }}
        >
          <p>One that holds files is kept.</p>
        </Confirm>
      )}
    </Page>
  )
}

const placeOf = ({ kind, folder, bucket, endpoint, prefix }: Backend) =>
  kind === 'local' ? folder : `${bucket}${prefix ? `/${prefix}` : ''} at ${endpoint}`

const columns = (open: (opened: Opened) => void, reload: () => Promise<void>): Column<Backend>[] => [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Kind', cell: ({ kind }) => (kind === 'local' ? 'folder' : 'S3') },
  { name: 'Place', cell: backend => <span title={placeOf(backend) ?? ''}>{placeOf(backend)}</span> },
  {
    name: 'State',
    cell: ({ active }) => <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'not active'}</Badge>,
  },
  { name: 'Files', number: true, cell: ({ files }) => files },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Actions', cell: backend => <Acts backend={backend} open={open} reload={reload} /> },
]

async function check({ id, name }: Backend): Promise<void> {
  const { data } = await ok(
    api.POST('/api/v1/admin/storage_backends/{id}/check', { params: { path: { id } } }),
  )
  if (!data.ok) throw new Problem({ title: `${name} cannot be used`, detail: data.error ?? '' })
}

interface ActsProps {
  backend: Backend
  open: (opened: Opened) => void
  reload: () => Promise<void>
}

function Acts({ backend, open, reload }: ActsProps) {
  const { id, name, active } = backend
  const params = { path: { id } }
  return (
    <span class="acts">
      <ActButton
        class="plain"
        operation="checkStorageBackend"
        label={`Check ${name}`}
        done={`A file was written to ${name}, read back and removed`}
        run={() => check(backend)}
      >
        Check
      </ActButton>
      <ActButton
        key={String(active)}
        class="plain"
        operation={active ? 'deactivateStorageBackend' : 'activateStorageBackend'}
        label={`${active ? 'Deactivate' : 'Activate'} ${name}`}
        done={active ? `Files are kept in ${name} no longer` : `Files are kept in ${name} from now on`}
        run={async () => {
          await ok(
            active
              ? api.POST('/api/v1/admin/storage_backends/{id}/deactivate', { params })
              : api.POST('/api/v1/admin/storage_backends/{id}/activate', { params }),
          )
          await reload()
        }}
      >
        {active ? 'Deactivate' : 'Activate'}
      </ActButton>
      <button
        type="button"
        class="plain"
        aria-label={`Edit ${name}`}
        onClick={() => open({ act: 'edit', backend })}
      >
        Edit
      </button>
      <button
        type="button"
        class="plain"
        aria-label={`Delete ${name}`}
        onClick={() => open({ act: 'delete', backend })}
      >
        Delete
      </button>
    </span>
  )
}
