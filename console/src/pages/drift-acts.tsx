// Acts on drift, shared by the inbox and the page of one.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { Dialog, Field, Form, Several } from '../ui/index.ts'

type Drift = Schemas['Drift']
type NewRule = Schemas['CreateIgnoreRule']

export const nameOfDrift = ({ name, resource_id, field }: Drift) => `${name || resource_id}: ${field}`

export const acceptDrift = ({ id }: Drift) =>
  ok(api.POST('/api/v1/drift/{id}/accept', { params: { path: { id } }, headers: once() }))

export const createRule = (body: NewRule) =>
  ok(api.POST('/api/v1/drift/ignore-rules', { body, headers: once() }))

/** The day's end, where the caller is: a rule holds through the day it names. */
export const endOfDay = (day: string | undefined) =>
  day ? { expires_at: new Date(`${day}T23:59:59`).toISOString() } : {}

const WIDTHS = [
  { value: 'resource', text: 'This field of these resources' },
  { value: 'kind', text: 'This field of every resource of the kind' },
]

/** Asks why and for how long, then makes a rule for each; several of the same make one. */
export function IgnoreDrift({ drifts, onClose }: { drifts: Drift[]; onClose: () => void }) {
  const [rules, setRules] = useState<NewRule[]>()
  if (rules)
    return (
      <Several
        title="Make ignore rules"
        items={rules}
        name={({ field, kind, resource_id }) =>
          `${field} of ${drifts.find(drift => drift.resource_id === resource_id)?.name ?? `every ${kind}`}`
        }
        act={createRule}
        done="made"
        onClose={onClose}
      />
    )
  const send = async ({ covers, reason, until }: Record<string, string>) => {
    const made = drifts.map(({ resource_id, kind, field }) => ({
      ...(covers === 'kind' ? { kind } : { resource_id }),
      field,
      reason: reason!,
      ...endOfDay(until),
    }))
    setRules([...new Map(made.map(rule => [JSON.stringify(rule), rule])).values()])
  }
  return (
    <Dialog
      title={drifts.length === 1 ? 'Ignore this drift' : `Ignore ${drifts.length} drifts`}
      onClose={onClose}
    >
      <p class="quiet">
        From the next sweep on it does not open, and what is open becomes stale. “Ignored ones instead” still
        lists it.
      </p>
      <Form submit="Ignore" send={send} cancel={onClose}>
        <Field label="Covers" name="covers" options={WIDTHS} value="resource" required />
        <Field label="Reason" name="reason" required maxLength={1000} />
        <Field label="Until the end of" name="until" type="date" help="Empty: until the rule is deleted." />
      </Form>
    </Dialog>
  )
}
