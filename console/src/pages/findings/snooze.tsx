// Leaving findings alone until a day, with the reason.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { announce, Dialog, Field, Form, Several } from '../../ui/index.ts'
import { type Finding, nameOf } from './finding.tsx'

type Snooze = Schemas['SnoozeFinding']

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
const MOST_DAYS = 364

const snooze = ({ id }: Finding, body: Snooze) =>
  ok(api.POST('/api/v1/findings/{id}/snooze', { params: { path: { id } }, body, headers: once() }))

/** A day in so many days, where the reader is. */
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toLocaleDateString('sv')

/** Of one, what is refused stands at its field; of several, at each. */
export function SnoozeFindings({ findings, onClose }: { findings: Finding[]; onClose: () => void }) {
  const [agreed, setAgreed] = useState<Snooze>()
  const [only, ...others] = findings
  if (agreed)
    return (
      <Several
        title="Snooze findings"
        items={findings}
        name={nameOf}
        act={finding => snooze(finding, agreed)}
        done="snoozed"
        onClose={onClose}
      />
    )
  const send = async ({ reason = '', until }: Record<string, string>) => {
    // Through the day it names.
    const body = { reason, until: new Date(`${until}T23:59:59`).toISOString() }
    if (others.length > 0) return setAgreed(body)
    await snooze(only!, body)
    announce('Snoozed.')
    onClose()
  }
  return (
    <Dialog
      title={others.length > 0 ? `Snooze ${findings.length} findings` : 'Snooze this finding'}
      onClose={onClose}
    >
      <p class="quiet">
        Until then it is in no sum and in no list of open ones; then it is back, unless it has closed by
        itself.
      </p>
      <Form submit="Snooze" send={send} cancel={onClose}>
        <Field label="Reason" name="reason" required maxLength={1000} />
        <Field
          label="Until the end of"
          name="until"
          type="date"
          required
          value={dayIn(USUAL_DAYS)}
          min={dayIn(0)}
          max={dayIn(MOST_DAYS)}
          help="A year at most."
        />
      </Form>
    </Dialog>
  )
}
