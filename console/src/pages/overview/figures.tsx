// The counts: each leads to what it counts, and is red when somebody has to do something about it.
import { api, ok, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { may } from '../../session.tsx'
import { moneyOfMinor, Section } from '../../ui/index.ts'
import type { Tone } from '../../ui/text.tsx'
import '../../style/overview.css'

type Overview = Schemas['Overview']

interface Figure {
  name: string
  value: number
  href: string
  /** When there are any. */
  tone: Tone
  about?: string
}

export function Figures({ overview }: { overview: Overview }) {
  const findings = useQuery(signal => ok(api.GET('/api/v1/findings/summary', { signal })), [], {
    every: 15_000,
    when: may('getFindingSummary'),
  })
  const all = [...figuresOf(overview), ...(findings.data ? [findingFigure(findings.data.data)] : [])]
  const wrong = all.filter(({ tone, value }) => tone === 'bad' && value > 0).length
  return (
    <Section title="Now">
      <p class="quiet">
        {wrong === 0
          ? 'Nothing needs you.'
          : `${wrong === 1 ? 'One thing needs' : `${wrong} things need`} you.`}
      </p>
      <ul class="figures" aria-label="Counts">
        {all.map(({ name, value, href, tone, about }) => (
          <li key={name}>
            <Link href={href} class="card">
              <span>{name}</span>
              <strong class={value > 0 ? tone : 'quiet'}>{value}</strong>
              {about && <small class="quiet">{about}</small>}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function figuresOf({
  mirror,
  sagas,
  drift,
  dead_letters,
  scheduled_tasks: tasks,
  invoices,
}: Overview): Figure[] {
  const figures: (Figure | false | null | undefined)[] = [
    ...(mirror ? mirrorFigures(mirror) : []),
    drift && { name: 'Open drift', value: drift.open, href: '/drift', tone: 'bad', about: mostDrift(drift) },
    ...(sagas ? runFigures(sagas) : []),
    dead_letters !== null && {
      name: 'Dead letters',
      value: dead_letters,
      href: '/admin/dead-letters',
      tone: 'bad',
    },
    tasks && { name: 'Tasks that failed', value: tasks.failed, href: '/admin/tasks', tone: 'bad' },
    tasks && { name: 'Tasks paused', value: tasks.paused, href: '/admin/tasks', tone: 'busy' },
    ...(invoices ? invoiceFigures(invoices) : []),
  ]
  return figures.filter(figure => figure !== false && figure !== null && figure !== undefined)
}

function mirrorFigures(mirror: NonNullable<Overview['mirror']>): Figure[] {
  const stale = mirror.filter(kind => kind.stale)
  const held = mirror.flatMap(({ last_run: run }) => (run && run.held > 0 && !run.confirmed_at ? [run] : []))
  return [
    {
      name: 'Kinds not fresh',
      value: stale.length,
      href: may('listSyncRuns') ? '/sweeps' : '/inventory',
      // A tenant can do nothing about it.
      tone: may('listSyncRuns') ? 'bad' : 'busy',
      about: `of ${mirror.length}`,
    },
    ...(held[0]
      ? [
          {
            name: 'Deletions held',
            value: held.reduce((sum, run) => sum + run.held, 0),
            href: to`/sweeps/${held[0].id}`,
            tone: 'bad' as const,
            about: held.map(({ kind }) => kind.replaceAll('_', ' ')).join(', '),
          },
        ]
      : []),
  ]
}

const runFigures = ({
  pending,
  running,
  compensating,
  failed,
  rolled_back,
}: Schemas['SagaCounts']): Figure[] => [
  { name: 'Runs under way', value: pending + running + compensating, href: '/sagas', tone: 'good' },
  { name: 'Runs failed', value: failed, href: '/sagas?status=failed', tone: 'bad', about: 'in 7 days' },
  {
    name: 'Runs rolled back',
    value: rolled_back,
    href: '/sagas?status=rolled_back',
    tone: 'busy',
    about: 'in 7 days',
  },
]

const invoiceFigures = ({
  not_ingested,
  ingest_failed,
  not_pushed,
  not_reconciled,
}: Schemas['InvoiceCounts']): Figure[] => [
  {
    name: 'Invoices that failed',
    value: ingest_failed,
    href: '/money/invoices?ingest_status=failed',
    tone: 'bad',
  },
  {
    name: 'Invoices not read',
    value: not_ingested,
    href: '/money/invoices?finance_status=not_ingested',
    tone: 'busy',
  },
  ...(not_pushed === null
    ? []
    : [
        {
          name: 'Invoices not pushed',
          value: not_pushed,
          // Never told of, or not as they stand now: no one filter has both.
          href: '/money/invoices',
          tone: 'bad' as const,
        },
      ]),
  {
    name: 'Invoices not reconciled',
    value: not_reconciled,
    href: '/money/invoices?reconciled=false',
    tone: 'bad',
  },
]

/** Red when one of them is grave: a tenant's volume that is attached to nothing is no alarm. */
const findingFigure = ({
  totals: { open, monthly_cost_minor: cost, currency },
  checks,
}: Schemas['FindingSummary']): Figure => ({
  name: 'Open findings',
  value: open,
  href: '/findings',
  tone: checks.some(check => check.open > 0 && check.severity === 'high') ? 'bad' : 'busy',
  about: `${moneyOfMinor(cost, currency)} a month`,
})

const mostDrift = ({ by_field: [most] }: Schemas['OpenDrift']): string | undefined =>
  most && `most: ${most.kind.replaceAll('_', ' ')} ${most.field}`
