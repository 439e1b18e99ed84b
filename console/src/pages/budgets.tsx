// How much months may come to, how far they have come, and days that were unlike others.
import { useState } from 'preact/hooks'
import { api, ok } from '../api.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import { type Column, type FilterField, Filters, Missing, moneyOfMinor, Page, Table } from '../ui/index.ts'
import { Amount, type Budget, BudgetBar, isReached, thresholdText, Whose } from './budgets/budget-bar.tsx'
import { BudgetForm } from './budgets/budget-form.tsx'
import { DeleteBudget } from './budgets/delete-budget.tsx'
import { UnusualDays } from './budgets/unusual-days.tsx'

type Opened = { act: 'create' } | { act: 'edit' | 'delete'; budget: Budget }

const FIELDS: FilterField[] = [
  { name: 'tenant_id', label: 'Tenant', search: true },
  {
    name: 'measure',
    label: 'Measured',
    options: [
      { value: 'charge', text: 'what is charged' },
      { value: 'cost', text: 'what the provider takes' },
    ],
  },
]

export default function Budgets() {
  const query = filters('tenant_id', 'measure')
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/budgets', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 10_000 },
  )
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  return (
    <Page
      title="Budgets"
      operation="listBudgets"
      actions={
        may('createBudget') && (
          <button type="button" class="primary" onClick={() => setOpened({ act: 'create' })}>
            Create a budget
          </button>
        )
      }
    >
      {seesAllTenants() && <Filters fields={FIELDS} />}
      <Table
        label="Budgets"
        list={list}
        id={({ id }) => id}
        columns={columns(setOpened)}
        empty="There is none. A budget tells before a month costs too much."
      />
      {may('listUnusualDays') && <UnusualDays />}
      {opened?.act === 'create' && <BudgetForm onClose={close} done={list.reload} />}
      {opened?.act === 'edit' && <BudgetForm budget={opened.budget} onClose={close} done={list.reload} />}
      {opened?.act === 'delete' && <DeleteBudget budget={opened.budget} onClose={close} done={list.reload} />}
    </Page>
  )
}

const columns = (open: (opened: Opened) => void): (Column<Budget> | false)[] => [
  { name: 'Name', cell: ({ id, name }) => <Link href={to`/money/budgets/${id}`}>{name}</Link> },
  { name: 'Of', cell: Whose },
  { name: 'This month', cell: budget => <BudgetBar budget={budget} /> },
  { name: 'Actual', number: true, cell: b => <Amount minor={b.actual_minor} currency={b.currency} /> },
  { name: 'Forecast', number: true, cell: b => <Amount minor={b.forecast_minor} currency={b.currency} /> },
  { name: 'Amount', number: true, cell: b => moneyOfMinor(b.amount_minor, b.currency) },
  {
    name: 'Reached',
    cell: ({ thresholds }) => thresholds.filter(isReached).map(thresholdText).join(', ') || <Missing />,
  },
  (may('changeBudget') || may('deleteBudget')) && {
    name: 'Actions',
    cell: budget => (
      <span class="acts">
        {may('changeBudget') && (
          <button
            type="button"
            class="plain"
            aria-label={`Edit ${budget.name}`}
            onClick={() => open({ act: 'edit', budget })}
          >
            Edit
          </button>
        )}
        {may('deleteBudget') && (
          <button
            type="button"
            class="plain"
            aria-label={`Delete ${budget.name}`}
            onClick={() => open({ act: 'delete', budget })}
          >
            Delete
          </button>
        )}
      </span>
    ),
  },
]
