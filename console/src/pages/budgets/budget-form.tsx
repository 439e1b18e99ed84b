// A budget is made or changed: how much, of what, and at which parts of it somebody is told.
import { useRef, useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { may, seesAllTenants } from '../../session.tsx'
import { Dialog, decimalOfMinor, Field, Form, type Values } from '../../ui/index.ts'
import { AMOUNT, cents } from '../catalog/terms.ts'
import type { Budget } from './budget-bar.tsx'
import '../../style/catalog.css'

type Threshold = Schemas['CreateBudget']['thresholds'] extends (infer T)[] | undefined ? T : never

const USUAL: Threshold[] = [
  { percent: 80, on: 'actual' },
  { percent: 100, on: 'actual' },
  { percent: 100, on: 'forecast' },
]

interface Props {
  budget?: Budget
  onClose: () => void
  done: () => Promise<void>
}

export function BudgetForm({ budget, onClose, done }: Props) {
  const next = useRef(0)
  const row = (threshold: Threshold) => ({ key: next.current++, threshold })
  const [rows, setRows] = useState(() => (budget?.thresholds ?? USUAL).map(row))
  const currency = budget?.currency ?? 'USD'
  const send = async (values: Values) => {
    const { name = '', currency: typed = currency, tenant_id, deployment_id } = values
    const amount_minor = cents(values.amount_minor ?? '', typed, '/amount_minor')
    const thresholds = rows.map((_, i) => ({
      percent: Number(values[`thresholds/${i}/percent`]),
      on: values[`thresholds/${i}/on`] as Threshold['on'],
    }))
    const body = { name, amount_minor, currency: typed, thresholds }
    if (budget) {
      const params = { path: { id: budget.id } }
      await ok(api.PATCH('/api/v1/budgets/{id}', { params, body }))
    } else {
      const measure = values.measure as Budget['measure'] | undefined
      const whose = { ...(tenant_id && { tenant_id }), ...(deployment_id && { deployment_id }) }
      const made = { ...body, ...whose, ...(measure && { measure }) }
      await ok(api.POST('/api/v1/budgets', { body: made, headers: once() }))
    }
    await done()
  }
  return (
    <Dialog title={budget ? `Edit ${budget.name}` : 'Create a budget'} onClose={onClose}>
      <Form submit={budget ? 'Save' : 'Create'} send={send} done={onClose} cancel={onClose}>
        <Field label="Name" name="name" required maxLength={100} value={budget?.name} />
        {!budget && <WhoseFields />}
        <div class="terms">
          <Field
            label="Amount a month"
            name="amount_minor"
            required
            pattern={AMOUNT}
            value={budget && decimalOfMinor(budget.amount_minor, currency)}
            {...(budget && { help: 'With a higher one thresholds begin anew.' })}
          />
          <Field label="Currency" name="currency" required pattern="[A-Z]{3}" value={currency} />
        </div>
        {rows.map(({ key, threshold }, i) => (
          <fieldset key={key} class="terms">
            <legend>
              Threshold {i + 1}{' '}
              <button
                type="button"
                class="plain"
                aria-label={`Take out threshold ${i + 1}`}
                onClick={() => setRows(rows.filter(other => other.key !== key))}
              >
                Take out
              </button>
            </legend>
            <Field
              label="Percent of the amount"
              name={`thresholds/${i}/percent`}
              type="number"
              min={1}
              max={1_000}
              required
              value={String(threshold.percent)}
            />
            <Field
              label="Compared with"
              name={`thresholds/${i}/on`}
              required
              options={['actual', 'forecast']}
              value={threshold.on}
            />
          </fieldset>
        ))}
        <button type="button" onClick={() => setRows([...rows, row({ percent: 50, on: 'actual' })])}>
          Add a threshold
        </button>
      </Form>
    </Dialog>
  )
}

/** Whose it is, and what it measures, stays as it was made. */
function WhoseFields() {
  const deployments = useQuery(signal => ok(api.GET('/api/v1/deployments', { signal })), [], {
    when: may('listDeployments'),
  })
  const suggestions = deployments.data?.data.map(({ id, slug }) => ({ value: id, text: slug }))
  return (
    <>
      {seesAllTenants() && (
        <Field
          label="Tenant"
          name="tenant_id"
          maxLength={128}
          help="With neither tenant nor deployment: the whole account."
        />
      )}
      <Field
        label="Deployment"
        name="deployment_id"
        help="Its id. Left empty: everything the tenant has."
        {...(suggestions && { suggestions })}
      />
      <Field
        label="Measures"
        name="measure"
        options={[
          { value: 'charge', text: 'what is charged' },
          { value: 'cost', text: 'what the provider takes' },
        ]}
        help="Left empty: the provider’s costs for the whole account, charges otherwise."
      />
    </>
  )
}
