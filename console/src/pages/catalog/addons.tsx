// Addons: what a subscription takes by the piece beside its plan.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { may } from '../../session.tsx'
import {
  type Column,
  Dialog,
  decimalOfMinor,
  Field,
  Form,
  moneyOfMinor,
  Section,
  Table,
  type Values,
} from '../../ui/index.ts'
import { counted } from './scales.ts'
import { AMOUNT, CODE, cents, KIND } from './terms.ts'

type Addon = Schemas['Addon']

export function Addons() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/catalog/addons', { params: { query: { cursor } }, signal })),
    [],
    { when: may('listAddons') },
  )
  // Which one is changed; null: a new one.
  const [edited, setEdited] = useState<Addon | null>()
  if (!may('listAddons')) return null
  const columns: (Column<Addon> | false)[] = [
    { name: 'Name', cell: ({ name }) => name },
    { name: 'Code', cell: ({ code }) => code },
    {
      name: 'Adds',
      cell: ({ qty, resource_kind }) =>
        `${counted(resource_kind, qty)} × ${resource_kind.replaceAll('_', ' ')}`,
    },
    {
      name: 'Price a month',
      number: true,
      cell: ({ price_cents, currency }) => moneyOfMinor(price_cents, currency),
    },
    may('changeAddon') && {
      name: 'Change',
      cell: addon => (
        <button
          type="button"
          class="plain"
          aria-label={`Change ${addon.code}`}
          onClick={() => setEdited(addon)}
        >
          Change
        </button>
      ),
    },
  ]
  return (
    <Section
      title="Addons"
      actions={
        may('createAddon') && (
          <button type="button" onClick={() => setEdited(null)}>
            New addon
          </button>
        )
      }
    >
      <Table
        label="All addons"
        list={list}
        columns={columns}
        id={({ id }) => id}
        empty="There are none yet."
      />
      {edited !== undefined && (
        <AddonDialog addon={edited} done={list.reload} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  )
}

interface DialogProps {
  addon: Addon | null
  done: () => Promise<void>
  onClose: () => void
}

function AddonDialog({ addon, done, onClose }: DialogProps) {
  const currency = addon?.currency ?? 'USD'
  const send = async (values: Values) => {
    const { currency: typed = currency } = values
    const body = {
      name: values.name ?? addon?.name ?? values.code ?? '',
      resource_kind: values.resource_kind ?? '',
      qty: Number(values.qty),
      price_cents: cents(values.price_cents ?? '', typed, '/price_cents'),
      currency: typed,
    }
    if (addon) {
      const params = { path: { code: addon.code } }
      await ok(api.PATCH('/api/v1/catalog/addons/{code}', { params, body }))
    } else {
      const made = { ...body, code: values.code ?? '' }
      await ok(api.POST('/api/v1/catalog/addons', { body: made, headers: once() }))
    }
    await done()
  }
  return (
    <Dialog title={addon ? `Change ${addon.code}` : 'New addon'} onClose={onClose}>
      {addon && <p class="quiet">What is attached to a subscription already stays as it was.</p>}
      <Form submit={addon ? 'Save' : 'Create'} send={send} done={onClose} cancel={onClose}>
        {!addon && <Field label="Code" name="code" required pattern={CODE} />}
        <Field label="Name" name="name" maxLength={200} value={addon?.name} />
        <Field
          label="Kind"
          name="resource_kind"
          required
          pattern={KIND}
          value={addon?.resource_kind}
          help="What it adds to, such as droplet."
        />
        <Field
          label="How many it adds"
          name="qty"
          type="number"
          min={1}
          required
          value={String(addon?.qty ?? 1)}
        />
        <Field
          label="Price a month"
          name="price_cents"
          required
          pattern={AMOUNT}
          value={addon ? decimalOfMinor(addon.price_cents, currency) : undefined}
        />
        <Field label="Currency" name="currency" required pattern="[A-Z]{3}" value={currency} />
      </Form>
    </Dialog>
  )
}
