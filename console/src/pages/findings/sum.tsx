// What all open findings together cost a month, and which checks found it.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api.ts'
import type { Query } from '../../query.ts'
import { filter, Link } from '../../router.tsx'
import { Bars, moneyOfMinor, Section, Shown } from '../../ui/index.ts'
import { SEVERITY_TONES } from './finding.tsx'

type Summary = Schemas['FindingSummary']

const SHOWN = 5

export const Sum = ({ summary }: { summary: Query<{ data: Summary }> }) => (
  <Shown query={summary}>{({ data }) => <Sums {...data} />}</Shown>
)

function Sums({ totals: { open, snoozed, monthly_cost_minor: cost, currency }, checks }: Summary) {
  const [all, setAll] = useState(false)
  const found = checks
    .filter(check => check.open > 0)
    .sort((a, b) => b.monthly_cost_minor - a.monthly_cost_minor || b.open - a.open)
  const shown = all ? found : found.slice(0, SHOWN)
  return (
    <Section title="Together">
      <div class="cards">
        <p class="card">
          A month <strong>{moneyOfMinor(cost, currency)}</strong>
          <small class="quiet">each resource once, however many checks name it</small>
        </p>
        <p class="card">
          Open <strong>{open}</strong>
          <small class="quiet">by {found.length === 1 ? 'one check' : `${found.length} checks`}</small>
        </p>
        <p class="card">
          Snoozed <strong>{snoozed}</strong>
          <small class="quiet">
            {snoozed > 0 ? <Link href="/findings?status=snoozed">not in the sum</Link> : 'none is left out'}
          </small>
        </p>
      </div>
      {found.length > 0 && (
        <Bars
          label="By check"
          bars={shown.map(({ check, title, severity, open, monthly_cost_minor: minor }) => ({
            key: check,
            name: (
              <Link
                href={`/findings?check=${check}`}
                aria-current={filter('check') === check ? 'page' : undefined}
              >
                {title}
              </Link>
            ),
            value: minor,
            tone: SEVERITY_TONES[severity],
            text: minor === 0 ? String(open) : `${open} · ${moneyOfMinor(minor, currency)}`,
          }))}
        />
      )}
      {found.length > SHOWN && (
        <button type="button" class="plain" onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `All ${found.length}`}
        </button>
      )}
    </Section>
  )
}
