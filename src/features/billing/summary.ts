// A month's costs added up: in all, unmatched, and by kind, tenant, deployment and project, each currency by itself.
// The database adds (line-store.ts); this says what the sums look like, and puts the rows in their places.
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Id, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

/** How many of each list are shown: the largest. What is left over is one sum. */
export const SHOWN_GROUPS = 100

/** What is said of any group of lines. */
export const sums = {
  lines: Type.Integer(),
  amount: Type.String({ description: 'The exact sum.' }),
  amount_minor: Type.Integer({ description: 'The lines’ minor units, summed; net and tax together.' }),
  net_minor: Type.Integer(),
  tax_minor: Type.Integer(),
}
const by = <N extends string, T extends TSchema>(title: string, name: N, type: T) =>
  Type.Array(noun(title, { [name]: type, ...sums } as Record<N, T> & typeof sums), {
    maxItems: SHOWN_GROUPS,
    description: `The ${SHOWN_GROUPS} with the largest amounts, largest first.`,
  })
const Others = Nullable(Type.Object({ groups: Type.Integer({ description: 'How many they are.' }), ...sums }))

export const CostSummary = noun('CostSummary', {
  period: Type.String({ format: 'date', description: 'The first day of the month.' }),
  currencies: Type.Array(
    noun('CurrencyCosts', {
      currency: Type.String(),
      ...sums,
      unmatched: Type.Object(sums, {
        description: 'Of the lines that `/billing/cost-lines?matched=false` lists, taxes among them.',
      }),
      by_kind: by('CostsByKind', 'kind', Type.String()),
      by_tenant: by('CostsByTenant', 'tenant_id', Nullable(Type.String())),
      by_deployment: by('CostsByDeployment', 'deployment_id', Nullable(Id)),
      by_project: by('CostsByProject', 'project_name', Nullable(Type.String())),
      others: Type.Object(
        { by_kind: Others, by_tenant: Others, by_deployment: Others, by_project: Others },
        {
          description:
            'What each list leaves out, added up; null where it leaves nothing out. `/billing/margins` pages through all.',
        },
      ),
    }),
    { description: 'Each currency by itself; empty for a month without lines.' },
  ),
})

/** `amount` is exact. */
type Sums = Static<TObject<typeof sums>>

type List = 'kind' | 'tenant' | 'deployment' | 'project'

/** Sums of one group of a currency's lines, or of all of them. */
export type SummaryRow = Sums & {
  currency: string
  part: 'all' | 'unmatched' | List
  /** Null: the lines that have none. */
  name: string | null
  /** In its list, from 1; behind the last that is shown come all the others together. */
  place: number
  /** How many groups the row is about. */
  groups: number
}

const NOTHING: Sums = { lines: 0, amount: '0', amount_minor: 0, net_minor: 0, tax_minor: 0 }

/** Rows in the order they are to be shown in. */
export function summaryOf(rows: readonly SummaryRow[]) {
  const currencies = [...new Set(rows.map(row => row.currency))]
  return currencies.map(currency => {
    const rowsOf = (part: SummaryRow['part']) =>
      rows.filter(row => row.currency === currency && row.part === part)
    const sum = (part: SummaryRow['part']): Sums => sumsOf(rowsOf(part)[0] ?? NOTHING)
    const shown = (list: List) => rowsOf(list).filter(row => row.place <= SHOWN_GROUPS)
    const others = (list: List) => {
      const left = rowsOf(list).find(row => row.place > SHOWN_GROUPS)
      return left ? { groups: left.groups, ...sumsOf(left) } : null
    }
    return {
      currency,
      ...sum('all'),
      unmatched: sum('unmatched'),
      by_kind: shown('kind').map(row => ({ kind: row.name!, ...sumsOf(row) })),
      by_tenant: shown('tenant').map(row => ({ tenant_id: row.name, ...sumsOf(row) })),
      by_deployment: shown('deployment').map(row => ({ deployment_id: row.name, ...sumsOf(row) })),
      by_project: shown('project').map(row => ({ project_name: row.name, ...sumsOf(row) })),
      others: {
        by_kind: others('kind'),
        by_tenant: others('tenant'),
        by_deployment: others('deployment'),
        by_project: others('project'),
      },
    }
  })
}

const sumsOf = ({ lines, amount, amount_minor, net_minor, tax_minor }: Sums): Sums => ({
  lines,
  amount,
  amount_minor,
  net_minor,
  tax_minor,
})
