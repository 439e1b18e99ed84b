// Every line of every invoice, by any filter; on a page of their own those that are tied to nothing.
import { api, ok } from '../api.ts'
import { useList } from '../query.ts'
import { filters, path } from '../router.tsx'
import { may } from '../session.tsx'
import { Download, type FilterField, Filters, Page } from '../ui/index.ts'
import { CostLineTable } from './cost-line-table.tsx'
import { lastMonth, monthFilter, wholePlatform } from './money.ts'

const MATCHED: FilterField = {
  name: 'matched',
  label: 'Matched',
  options: [
    { value: 'true', text: 'matched' },
    { value: 'false', text: 'unmatched' },
  ],
}

const fields = (whole: boolean, unmatched: boolean): FilterField[] => [
  { name: 'period', label: 'Month', type: 'month' },
  { name: 'kind', label: 'Kind', search: true },
  ...(unmatched ? [] : [MATCHED]),
  ...(whole ? [{ name: 'tenant_id', label: 'Tenant' }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'resource_id', label: 'Resource' },
  ...(whole ? [{ name: 'invoice_id', label: 'Invoice' }] : []),
]

export default function CostLines() {
  const whole = wholePlatform()
  const unmatched = path.value === '/money/unmatched'
  const query = {
    ...filters('kind', 'matched', 'tenant_id', 'deployment_id', 'resource_id', 'invoice_id'),
    period: monthFilter('period'),
    ...(unmatched && { matched: false }),
  }
  const list = useList(
    (cursor, signal) => {
      const options = { params: { query: { ...query, cursor } }, signal }
      return ok(
        whole ? api.GET('/api/v1/billing/cost-lines', options) : api.GET('/api/v1/costs/lines', options),
      )
    },
    [query],
  )
  const month = query.period ?? lastMonth()
  return (
    <Page
      title={unmatched ? 'Unmatched cost lines' : 'Cost lines'}
      operation={whole ? 'listCostLines' : 'listOwnCostLines'}
      actions={
        <>
          <Download
            path={whole ? '/api/v1/billing/cost-lines' : '/api/v1/costs/lines'}
            query={{ ...query, format: 'csv' }}
          >
            Download CSV
          </Download>
          {may(whole ? 'exportFocus' : 'exportOwnFocus') && (
            <Download
              path={whole ? '/api/v1/billing/focus' : '/api/v1/costs/focus'}
              query={{ period: month }}
            >
              FOCUS of {month.slice(0, 7)}
            </Download>
          )}
        </>
      }
    >
      <Filters fields={fields(whole, unmatched)} />
      <CostLineTable
        label="Cost lines"
        list={list}
        empty={
          unmatched
            ? 'Every line is matched to what it is for.'
            : 'No line matches. Lines come with the provider’s invoices.'
        }
      />
    </Page>
  )
}
