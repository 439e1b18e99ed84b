// A storage backend is made or changed. Where its files are does not change: that is another backend.
import { useId, useState } from 'preact/hooks'
import { api, ok } from '../../api.ts'
import { announce, Dialog, Field, Form, type Values } from '../../ui/index.ts'
import type { Backend } from './storage.tsx'

interface Props {
  backend?: Backend
  onClose: () => void
  reload: () => Promise<void>
}

export function BackendForm({ backend, onClose, reload }: Props) {
  const [kind, setKind] = useState<Backend['kind']>(backend?.kind ?? 'local')
  const id = useId()
  const send = async ({ name = '', path_style, ...rest }: Values) => {
    const body = { name, ...rest, ...(kind === 's3' && { path_style: path_style === 'on' }) }
    if (backend)
      await ok(
        api.PATCH('/api/v1/admin/storage_backends/{id}', { params: { path: { id: backend.id } }, body }),
      )
    else await ok(api.POST('/api/v1/admin/storage_backends', { body: { ...body, kind } }))
    announce(backend ? `${name} is changed` : `${name} is added; activate it to use it`)
    await reload()
  }
  return (
    <Dialog title={backend ? backend.name : 'Add a backend'} onClose={onClose}>
      <Form submit={backend ? 'Save' : 'Add'} cancel={onClose} done={onClose} send={send}>
        <Field label="Name" name="name" required maxLength={64} value={backend?.name ?? ''} />
        {!backend && (
          <div class="field">
            <label for={id}>Kind</label>
            <select id={id} onChange={event => setKind(event.currentTarget.value as Backend['kind'])}>
              <option value="local">Folder beside the service</option>
              <option value="s3">S3-compatible bucket</option>
            </select>
          </div>
        )}
        {kind === 'local' && !backend && (
          <Field
            label="Folder"
            name="folder"
            required
            maxLength={200}
            help="Below storage in the data folder."
          />
        )}
        {kind === 's3' && <Bucket backend={backend} />}
      </Form>
    </Dialog>
  )
}

const Bucket = ({ backend }: { backend: Backend | undefined }) => (
  <>
    <Field
      label="Endpoint"
      name="endpoint"
      type="url"
      required
      value={backend?.endpoint ?? ''}
      help="https; plain http only to this machine, and not in production."
    />
    {!backend && <Field label="Bucket" name="bucket" required maxLength={63} />}
    <Field label="Region" name="region" required maxLength={64} value={backend?.region ?? ''} />
    {!backend && (
      <Field label="Prefix" name="prefix" maxLength={200} help="What every key in the bucket begins with." />
    )}
    <Field
      label="Access key’s id"
      name="access_key_id"
      required
      maxLength={128}
      value={backend?.access_key_id ?? ''}
    />
    <Field
      label="Secret access key"
      name="secret_access_key"
      type="password"
      required={!backend}
      maxLength={256}
      help={`Kept encrypted, and never shown again.${backend ? ' Left empty: the one that is there.' : ''}`}
    />
    <Field
      label="The bucket is named in the path"
      name="path_style"
      type="checkbox"
      value={backend?.path_style === false ? '' : 'on'}
      help="Otherwise it is in the host’s name."
    />
  </>
)
