// Meters: usage that is told by events, and what of it makes a month's figure.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { may } from '../../session.tsx'
import { type Column, Dialog, Field, Form, Section, Table, Time, type Values } from '../../ui/index.ts'
import { decimal } from '../statement-lines.tsx'
import { KIND, UNIT } from './terms.ts'

type Meter = Schemas['Meter']

const AGGREGATIONS = [
  { value: 'sum', text: 'sum: all values added up' },
  { value: 'max', text: 'max: the largest value' },
  { value: 'last', text: 'last: the latest value' },
  { value: 'unique', text: 'unique: how many different ones' },
]

export function Meters() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/catalog/meters', { params: { query: { cursor } }, signal })),
    [],
    { when: may('listMeters') },
  )
  // Which one is renamed; null: a new one.
  const [edited, setEdited] = useState<Meter | null>()
  if (!may('listMeters')) return null
  const columns: (Column<Meter> | false)[] = [
    { name: 'Name', cell: ({ name }) => name },
    { name: 'Code', cell: ({ code }) => code },
    { name: 'A month is the', cell: ({ aggregation }) => aggregation },
    { name: 'Unit', cell: ({ unit }) => unit },
    { name: 'Priced by', number: true, cell: ({ scale, unit }) => `${decimal(String(scale))} × ${unit}` },
    { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
    may('renameMeter') && {
      name: 'Rename',
      cell: meter => (
        <button
          type="button"
          class="plain"
          aria-label={`Rename ${meter.code}`}
          onClick={() => setEdited(meter)}
        >
          Rename
        </button>
      ),
    },
  ]
  return (
    <Section
      title="Meters"
      actions={
        may('createMeter') && (
          <button type="button" onClick={() => setEdited(null)}>
            New meter
          </button>
        )
      }
    >
      <Table
        label="All meters"
        list={list}
        columns={columns}
        id={({ code }) => code}
        empty="There are none yet. Usage events are counted by meters."
      />
      {edited !== undefined && (
        <MeterDialog meter={edited} done={list.reload} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  )
}

interface DialogProps {
  meter: Meter | null
  done: () => Promise<void>
  onClose: () => void
}

function MeterDialog({ meter, done, onClose }: DialogProps) {
  const send = async ({ name, code = '', aggregation, unit = '', scale = '1' }: Values) => {
    if (meter) {
      const params = { path: { code: meter.code } }
      await ok(api.PATCH('/api/v1/catalog/meters/{code}', { params, body: { name: name ?? meter.code } }))
    } else {
      const how = aggregation as Meter['aggregation']
      const body = { code, aggregation: how, unit, scale: Number(scale), ...(name && { name }) }
      await ok(api.POST('/api/v1/catalog/meters', { body, headers: once() }))
    }
    await done()
  }
  return (
    <Dialog title={meter ? `Rename ${meter.code}` : 'New meter'} onClose={onClose}>
      <Form submit={meter ? 'Save' : 'Create'} send={send} done={onClose} cancel={onClose}>
        {!meter && (
          <Field
            label="Code"
            name="code"
            required
            pattern={KIND}
            help="The type of its events, and the kind in plans and prices."
          />
        )}
        <Field label="Name" name="name" maxLength={200} value={meter?.name} help="Default: the code." />
        {!meter && (
          <>
            <Field label="A month is the" name="aggregation" required options={AGGREGATIONS} />
            <Field
              label="Unit"
              name="unit"
              required
              pattern={UNIT}
              help="What values count, such as token."
            />
            <Field
              label="Scale"
              name="scale"
              type="number"
              min={1}
              required
              value="1"
              help="So many units are one of what plans include and prices are for."
            />
            <p class="quiet">All but its name stays: months are priced by it.</p>
          </>
        )}
      </Form>
    </Dialog>
  )
}
