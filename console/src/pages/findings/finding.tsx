// How a finding is shown, wherever it is: what it is about, what it costs, how bad it is.
import type { Schemas } from '../../api.ts'
import { Link, to } from '../../router.tsx'
import { Missing, Money } from '../../ui/index.ts'
import type { Tone } from '../../ui/text.tsx'

export type Finding = Schemas['Finding']
export type Check = Schemas['FindingCheck']

export const SEVERITY_TONES: Record<Finding['severity'], Tone> = { high: 'bad', medium: 'busy', low: 'quiet' }

export const SOURCES: Record<NonNullable<Finding['cost_source']>, string> = {
  invoice: 'by its last invoice line',
  list_price: 'by the list price',
}

export const nameOf = ({ title, resource, subject }: Finding): string =>
  `${title}: ${resource ? resource.name || resource.provider_id : subject}`

export const Subject = ({ resource, subject }: Pick<Finding, 'resource' | 'subject'>) =>
  resource ? (
    <>
      <Link href={to`/inventory/${resource.id}`}>{resource.name || resource.provider_id}</Link>{' '}
      <span class="quiet">{resource.kind.replaceAll('_', ' ')}</span>
    </>
  ) : (
    subject.replaceAll('_', ' ')
  )

/** What costs nothing, or nobody knows what, has no amount. */
export const Cost = ({
  monthly_cost_minor,
  monthly_cost,
  currency,
}: Pick<Finding, 'monthly_cost_minor' | 'monthly_cost' | 'currency'>) =>
  monthly_cost_minor === 0 ? <Missing /> : <Money amount={monthly_cost} currency={currency} />
