// What a version costs and includes, typed: the base price, and an item for each kind.
import { useRef, useState } from 'preact/hooks'
import type { Schemas } from '../../api.ts'
import { Dialog, decimalOfMinor, Field, Form } from '../../ui/index.ts'
import { AMOUNT, KIND, termsBody, UNIT, type Version } from './terms.ts'
import '../../style/catalog.css'

type Item = Version['items'][number]

interface Props {
  title: string
  /** What it starts from. */
  terms: Version | undefined
  submit: string
  send: (body: Schemas['PlanVersionTerms']) => Promise<unknown>
  onClose: () => void
}

export function TermsForm({ title, terms, submit, send, onClose }: Props) {
  const next = useRef(0)
  const row = (item?: Item) => ({ key: next.current++, item })
  const [rows, setRows] = useState(() => (terms?.items ?? []).map(row))
  const currency = terms?.currency ?? 'USD'
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={submit}
        cancel={onClose}
        done={onClose}
        send={values => send(termsBody(values, rows.length))}
      >
        <div class="terms">
          <Field
            label="Base price a month"
            name="base_price_cents"
            required
            pattern={AMOUNT}
            value={terms && decimalOfMinor(terms.base_price_cents, currency)}
          />
          <Field label="Currency" name="currency" required pattern="[A-Z]{3}" value={currency} />
        </div>
        {rows.map(({ key, item }, i) => (
          <fieldset key={key} class="terms">
            <legend>
              Item {i + 1}{' '}
              <button
                type="button"
                class="plain"
                aria-label={`Take out item ${i + 1}`}
                onClick={() => setRows(rows.filter(other => other.key !== key))}
              >
                Take out
              </button>
            </legend>
            <ItemFields at={`items/${i}`} item={item} currency={currency} />
          </fieldset>
        ))}
        <button type="button" onClick={() => setRows([...rows, row()])}>
          Add an item
        </button>
      </Form>
    </Dialog>
  )
}

function ItemFields({ at, item, currency }: { at: string; item: Item | undefined; currency: string }) {
  const price = item?.overage_price_cents ?? undefined
  return (
    <>
      <Field label="Kind" name={`${at}/resource_kind`} required pattern={KIND} value={item?.resource_kind} />
      <Field
        label="Included"
        name={`${at}/included_qty`}
        type="number"
        min={0}
        required
        value={String(item?.included_qty ?? 0)}
      />
      <Field
        label="At most"
        name={`${at}/hard_cap_qty`}
        type="number"
        min={0}
        value={text(item?.hard_cap_qty)}
      />
      <Field
        label="Price beyond"
        name={`${at}/overage_price_cents`}
        pattern={AMOUNT}
        value={price === undefined ? undefined : decimalOfMinor(price, currency)}
      />
      <Field
        label="For each"
        name={`${at}/overage_unit`}
        pattern={UNIT}
        value={item?.overage_unit ?? undefined}
      />
    </>
  )
}

const text = (value: number | null | undefined): string | undefined =>
  value === null || value === undefined ? undefined : String(value)
