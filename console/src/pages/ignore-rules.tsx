// Which differences are nobody's concern, why, and until when.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList } from '../query.ts'
import { Link, to } from '../router.tsx'
import { may } from '../session.tsx'
import { announce, Badge, Confirm, Dialog, Field, Form, Page, Table, Time } from '../ui/index.ts'
import { createRule, endOfDay } from './drift-acts.tsx'

type Rule = Schemas['IgnoreRule']

export default function IgnoreRules() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/drift/ignore-rules', { params: { query: { cursor } }, signal })),
    [],
    { every: 30_000 },
  )
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<Rule>()
  return (
    <Page
      title="Ignore rules"
      operation="listIgnoreRules"
      actions={
        may('createIgnoreRule') && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New rule
          </button>
        )
      }
    >
      <Table
        label="Ignore rules"
        list={list}
        id={({ id }) => id}
        empty="There are none: every difference from a desired state opens a drift."
        columns={[
          { name: 'Field', cell: ({ field }) => <code>{field}</code> },
          { name: 'Covers', cell: rule => <Covered {...rule} /> },
          { name: 'Reason', cell: ({ reason }) => <span title={reason}>{reason}</span> },
          { name: 'Until', cell: ({ expires_at }) => <Until at={expires_at} /> },
          { name: 'Made by', cell: ({ created_by }) => created_by },
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          may('deleteIgnoreRule') && {
            name: 'Delete',
            cell: rule => (
              <button
                type="button"
                class="plain"
                aria-label={`Delete the rule for ${rule.field}`}
                onClick={() => setDeleting(rule)}
              >
                Delete
              </button>
            ),
          },
        ]}
      />
      {making && (
        <NewRule
          onClose={() => setMaking(false)}
          done={() => {
            setMaking(false)
            announce('The rule holds from the next sweep on.')
            list.reload()
          }}
        />
      )}
      {deleting && (
        <Confirm
          title="Delete an ignore rule"
          name={deleting.field}
          act="Delete"
          run={async () => {
            const { id } = deleting
            await ok(api.DELETE('/api/v1/drift/ignore-rules/{id}', { params: { path: { id } } }))
            list.reload()
          }}
          onClose={() => setDeleting(undefined)}
        >
          <p>
            The next sweep opens what it covered and still differs. It was made because: {deleting.reason}
          </p>
        </Confirm>
      )}
    </Page>
  )
}

function Covered({ kind, resource_id }: Rule) {
  if (resource_id) return <Link href={to`/inventory/${resource_id}`}>one resource</Link>
  return <>{kind ? `every ${kind.replaceAll('_', ' ')}` : 'everything'}</>
}

function Until({ at }: { at: string | null }) {
  if (!at) return <>no end</>
  return at < new Date().toISOString() ? <Badge>expired</Badge> : <Time at={at} />
}

function NewRule({ onClose, done }: { onClose: () => void; done: () => void }) {
  const send = ({ field = '', reason = '', kind, resource_id, until }: Record<string, string>) =>
    createRule({
      field,
      reason,
      ...(kind && { kind: kind as (typeof KINDS)[number] }),
      ...(resource_id && { resource_id }),
      ...endOfDay(until),
    })
  return (
    <Dialog title="New ignore rule" onClose={onClose}>
      <Form submit="Create" send={send} done={done} cancel={onClose}>
        <Field
          label="Field"
          name="field"
          required
          maxLength={255}
          help="A name; * stands for any characters."
        />
        <Field label="Kind" name="kind" options={KINDS} help="Empty: any." />
        <Field label="Resource’s id" name="resource_id" help="Empty: any." />
        <Field label="Reason" name="reason" required maxLength={1000} />
        <Field label="Until the end of" name="until" type="date" help="Empty: until it is deleted." />
      </Form>
    </Dialog>
  )
}
