// Deletions that a sweep holds back, because too many resources were missing at once: an operator confirms them.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { may } from '../session.tsx'
import { announce, Confirm, Missing } from '../ui/index.ts'

type Run = Schemas['SyncRun']

export function ConfirmHeld({ run, done }: { run: Run; done: () => Promise<unknown> }) {
  const [open, setOpen] = useState(false)
  const { id, held, kind, confirmed_at } = run
  const things = `${held} ${kind.replaceAll('_', ' ')}${held === 1 ? '' : 's'}`
  if (held === 0) return <Missing />
  if (confirmed_at) return <span class="quiet">{things}, confirmed</span>
  const confirm = async () => {
    const path = { id }
    const { data } = await ok(
      api.POST('/api/v1/inventory/sync-runs/{id}/confirm', { params: { path }, headers: once() }),
    )
    announce(`Deleted from the mirror: ${data.deleted}.`)
    await done()
  }
  return (
    <>
      <span class="bad">{things}</span>{' '}
      {may('confirmHeldDeletions') && (
        <button
          type="button"
          class="plain"
          aria-label={`Confirm the deletion of ${things}`}
          onClick={() => setOpen(true)}
        >
          Confirm…
        </button>
      )}
      {open && (
        <Confirm
          title={`Delete ${things}`}
          name={kind}
          act="Delete"
          run={confirm}
          onClose={() => setOpen(false)}
        >
          <p>
            The provider’s last list was without them, too many at once to be believed. Confirming deletes
            those from the mirror that nobody has seen since; at the provider nothing is changed.
          </p>
        </Confirm>
      )}
    </>
  )
}
