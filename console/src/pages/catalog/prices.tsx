// Resource prices: per unit, for what no plan covers, each for some days. For operators.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filters } from '../../router.tsx'
import { may } from '../../session.tsx'
import {
  announce,
  type Column,
  Dialog,
  Field,
  Filters,
  Form,
  moneyOfMinor,
  Section,
  Table,
  Time,
} from '../../ui/index.ts'
import { priced } from './scales.ts'
import { AMOUNT, cents, KIND, UNIT } from './terms.ts'

type Price = Schemas['ResourcePrice']

const FIELDS = [
  { name: 'resource_kind', label: 'Kind' },
  { name: 'unit', label: 'Unit' },
  { name: 'currency', label: 'Currency' },
  { name: 'on', label: 'Holds on', type: 'date' as const },
]

export function Prices() {
  const query = filters('resource_kind', 'unit', 'currency', 'on')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/catalog/resource-prices', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { when: may('listResourcePrices') },
  )
  const [adding, setAdding] = useState(false)
  const [ended, setEnded] = useState<Price>()
  if (!may('listResourcePrices')) return null
  const columns: (Column<Price> | false)[] = [
    { name: 'Kind', cell: ({ resource_kind }) => resource_kind.replaceAll('_', ' ') },
    {
      name: 'Price',
      number: true,
      cell: ({ resource_kind, price_cents, currency, unit }) =>
        `${moneyOfMinor(price_cents, currency)} ${priced(resource_kind, unit)}`,
    },
    { name: 'From', cell: ({ effective_from }) => <Time at={effective_from} /> },
    {
      name: 'Until before',
      cell: ({ effective_to }) => (effective_to ? <Time at={effective_to} /> : 'further notice'),
    },
    may('endResourcePrice') && {
      name: 'Change',
      cell: price => (
        <button
          type="button"
          class="plain"
          aria-label={`End the price of ${price.resource_kind} from ${price.effective_from}`}
          onClick={() => setEnded(price)}
        >
          End
        </button>
      ),
    },
  ]
  return (
    <Section
      title="Resource prices"
      actions={
        may('createResourcePrice') && (
          <button type="button" onClick={() => setAdding(true)}>
            New price
          </button>
        )
      }
    >
      <Filters fields={FIELDS} />
      <Table
        label="Prices of what no plan covers"
        list={list}
        columns={columns}
        id={({ id }) => id}
        empty="No price matches: what no plan covers costs nothing."
      />
      {adding && <NewPrice done={list.reload} onClose={() => setAdding(false)} />}
      {ended && <EndPrice price={ended} done={list.reload} onClose={() => setEnded(undefined)} />}
    </Section>
  )
}

interface DialogProps {
  done: () => Promise<void>
  onClose: () => void
}

function NewPrice({ done, onClose }: DialogProps) {
  return (
    <Dialog title="New resource price" onClose={onClose}>
      <Form
        submit="Create"
        done={onClose}
        cancel={onClose}
        send={async ({ resource_kind = '', unit = '', currency = '', effective_from = '', ...rest }) => {
          const body = {
            resource_kind,
            unit,
            currency,
            price_cents: cents(rest.price_cents ?? '', currency, '/price_cents'),
            effective_from,
            effective_to: rest.effective_to ?? null,
          }
          await ok(api.POST('/api/v1/catalog/resource-prices', { body, headers: once() }))
          await done()
        }}
      >
        <Field label="Kind" name="resource_kind" required pattern={KIND} help="Such as droplet." />
        <Field label="Unit" name="unit" required pattern={UNIT} help="hour, day and month are charged." />
        <Field label="Price of one unit" name="price_cents" required pattern={AMOUNT} />
        <Field label="Currency" name="currency" required pattern="[A-Z]{3}" value="USD" />
        <Field label="From" name="effective_from" type="date" required help="The first day it holds." />
        <Field label="Until before" name="effective_to" type="date" help="Empty: until further notice." />
      </Form>
    </Dialog>
  )
}

function EndPrice({ price, done, onClose }: DialogProps & { price: Price }) {
  const { id, resource_kind, unit, effective_from, effective_to } = price
  return (
    <Dialog title={`End the price of ${resource_kind} a ${unit}`} onClose={onClose}>
      <Form
        submit="Save"
        done={onClose}
        cancel={onClose}
        send={async values => {
          const body = { effective_to: values.effective_to ?? null }
          await ok(api.PATCH('/api/v1/catalog/resource-prices/{id}', { params: { path: { id } }, body }))
          announce('The price is changed')
          await done()
        }}
      >
        <p class="quiet">
          It holds from <Time at={effective_from} />.
        </p>
        <Field
          label="Until before"
          name="effective_to"
          type="date"
          value={effective_to ?? undefined}
          help="The first day it no longer holds. Empty: until further notice."
        />
      </Form>
    </Dialog>
  )
}
