// One budget: its month against its thresholds, and every one that was reached.
import { useState } from 'preact/hooks'
import { api, ok } from '../api.ts'
import { useList, useQuery } from '../query.ts'
import { navigate } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may } from '../session.tsx'
import { Facts, moneyOfMinor, Page, Section, Shown, Table, Time } from '../ui/index.ts'
import { Amount, type Budget, BudgetBar, thresholdText, Whose } from './budgets/budget-bar.tsx'
import { BudgetForm } from './budgets/budget-form.tsx'
import { DeleteBudget } from './budgets/delete-budget.tsx'

export default function BudgetPage({ params: { id = '' } }: PageProps) {
  const path = { id }
  const budget = useQuery(signal => ok(api.GET('/api/v1/budgets/{id}', { params: { path }, signal })), [id], {
    every: 10_000,
  })
  const found = budget.data?.data
  const alerts = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/budgets/{id}/alerts', { params: { path, query: { cursor } }, signal })),
    [id],
    { when: found !== undefined, again: found?.looked_at },
  )
  return (
    <Page
      title={found?.name ?? 'Budget'}
      operation="getBudget"
      actions={found && <Acts budget={found} reload={budget.reload} />}
    >
      <Shown query={budget}>
        {({ data }) => (
          <>
            <Month budget={data} />
            <Section title="Reached so far">
              <Table
                label="Thresholds that were reached"
                list={alerts}
                id={alert => alert.id}
                empty="No threshold has been reached."
                columns={[
                  { name: 'Month', cell: alert => alert.period },
                  { name: 'Threshold', cell: alert => thresholdText(alert) },
                  {
                    name: 'Came to',
                    number: true,
                    cell: alert => moneyOfMinor(alert.reached_minor, alert.currency),
                  },
                  {
                    name: 'Of',
                    number: true,
                    cell: alert => moneyOfMinor(alert.amount_minor, alert.currency),
                  },
                  { name: 'When', cell: alert => <Time at={alert.reached_at} /> },
                ]}
              />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  )
}

function Month({ budget }: { budget: Budget }) {
  const { period, currency, measure, thresholds, other_currencies, estimated } = budget
  const share = (percent: number) => moneyOfMinor(Math.round((budget.amount_minor * percent) / 100), currency)
  return (
    <Section title={`The month ${period}`}>
      <BudgetBar budget={budget} />
      <Facts
        facts={[
          ['Of', <Whose key="of" {...budget} />],
          ['Measured', measure === 'cost' ? 'what the provider takes' : 'what is charged'],
          ['Amount', moneyOfMinor(budget.amount_minor, currency)],
          ['Actual', <Amount key="actual" minor={budget.actual_minor} currency={currency} />],
          ['Forecast', <Amount key="forecast" minor={budget.forecast_minor} currency={currency} />],
          ...(estimated ? [['Estimated', 'until the provider’s invoice is in'] as [string, string]] : []),
          ...other_currencies.map((other): [string, string] => [
            `In ${other.currency}, not counted`,
            moneyOfMinor(other.actual_minor, other.currency),
          ]),
          ['Looked at', <Time key="looked_at" at={budget.looked_at} />],
        ]}
      />
      <Table
        label="Thresholds"
        list={{ rows: thresholds }}
        id={({ percent, on }) => `${percent} ${on}`}
        empty=""
        columns={[
          { name: 'Threshold', cell: ({ percent, on }) => thresholdText({ percent, on }) },
          { name: 'At', number: true, cell: ({ percent }) => share(percent) },
          { name: 'Reached', cell: ({ reached_at }) => (reached_at ? <Time at={reached_at} /> : 'not yet') },
        ]}
      />
    </Section>
  )
}

function Acts({ budget, reload }: { budget: Budget; reload: () => Promise<void> }) {
  const [opened, setOpened] = useState<'edit' | 'delete'>()
  const close = () => setOpened(undefined)
  return (
    <>
      {may('changeBudget') && (
        <button type="button" onClick={() => setOpened('edit')}>
          Edit
        </button>
      )}
      {may('deleteBudget') && (
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          Delete
        </button>
      )}
      {opened === 'edit' && <BudgetForm budget={budget} onClose={close} done={reload} />}
      {opened === 'delete' && (
        <DeleteBudget budget={budget} onClose={close} done={() => navigate('/money/budgets')} />
      )}
    </>
  )
}
