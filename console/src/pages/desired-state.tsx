// How a resource should be: shown, said anew, or no longer said. There is no list of desired states; each is its resource's.
import { useState } from 'preact/hooks'
import { api, ok, Problem, type Schemas } from '../api.ts'
import { may } from '../session.tsx'
import { announce, Confirm, Dialog, Empty, Field, Form, Json, Section } from '../ui/index.ts'

type Resource = Schemas['ResourceDetail']

export function DesiredState({ resource, reload }: { resource: Resource; reload: () => Promise<void> }) {
  const { id, name, desired_state } = resource
  const [open, setOpen] = useState<'set' | 'delete'>()
  const close = () => setOpen(undefined)
  const drop = async () => {
    await ok(api.DELETE('/api/v1/inventory/{id}/desired-state', { params: { path: { id } } }))
    announce('Nothing is desired of it any more.')
    await reload()
  }
  const actions = (
    <div class="actions">
      {may('putDesiredState') && !resource.deleted_at && (
        <button type="button" onClick={() => setOpen('set')}>
          {desired_state ? 'Change…' : 'Set…'}
        </button>
      )}
      {may('deleteDesiredState') && desired_state && (
        <button type="button" onClick={() => setOpen('delete')}>
          Delete…
        </button>
      )}
    </div>
  )
  if (!desired_state && !may('putDesiredState')) return null
  return (
    <Section title="Desired state" actions={actions}>
      {desired_state ? (
        <Json label="Desired state" value={desired_state.spec} />
      ) : (
        <Empty>Nobody said how it should be.</Empty>
      )}
      {open === 'set' && <SetDesiredState resource={resource} onClose={close} reload={reload} />}
      {open === 'delete' && (
        <Confirm title="Delete the desired state" name={name || id} act="Delete" run={drop} onClose={close}>
          <p>Its open drift becomes stale. The resource itself is left alone.</p>
        </Confirm>
      )}
    </Section>
  )
}

function SetDesiredState({
  resource: { id, name, region, desired_state },
  onClose,
  reload,
}: {
  resource: Resource
  onClose: () => void
  reload: () => Promise<void>
}) {
  const send = async ({ spec = '' }: Record<string, string>) => {
    const body = { spec: parsed(spec) }
    await ok(api.PUT('/api/v1/inventory/{id}/desired-state', { params: { path: { id } }, body }))
    await reload()
  }
  return (
    <Dialog title={`How ${name || id} should be`} onClose={onClose}>
      <Form submit="Set" send={send} done={onClose} cancel={onClose}>
        <Field
          label="Fields and their values, as JSON"
          name="spec"
          type="textarea"
          required
          value={JSON.stringify(desired_state?.spec ?? { name, region }, null, 2)}
          help="It replaces the whole. What differs at the next drift detection opens a drift."
        />
      </Form>
    </Dialog>
  )
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    const errors = [{ pointer: '/spec', message: (error as Error).message }]
    throw new Problem({ title: 'That is no JSON', errors })
  }
}
