// What is sold: plans with their active version, addons, the meters of usage, and the prices of what no plan covers.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { Link, navigate, to } from '../router.tsx'
import { may } from '../session.tsx'
import {
  Badge,
  type Column,
  Dialog,
  Field,
  Form,
  Missing,
  moneyOfMinor,
  Page,
  Section,
  Table,
  Time,
} from '../ui/index.ts'
import { Addons } from './catalog/addons.tsx'
import { Meters } from './catalog/meters.tsx'
import { Prices } from './catalog/prices.tsx'
import { counted, useScales } from './catalog/scales.ts'
import { CODE } from './catalog/terms.ts'

type Plan = Schemas['Plan']

export default function Catalog() {
  useScales()
  const plans = useList(
    (cursor, signal) => ok(api.GET('/api/v1/catalog/plans', { params: { query: { cursor } }, signal })),
    [],
  )
  return (
    <Page title="Catalog" operation="listPlans">
      <Section title="Plans" actions={<NewPlan />}>
        <Table
          label="All plans"
          list={plans}
          columns={columns}
          id={({ id }) => id}
          empty="There are none yet. A plan can be subscribed to once a version of it is published."
        />
      </Section>
      <Addons />
      <Meters />
      <Prices />
    </Page>
  )
}

const columns: Column<Plan>[] = [
  { name: 'Name', cell: ({ code, name }) => <Link href={to`/catalog/${code}`}>{name}</Link> },
  { name: 'Code', cell: ({ code }) => code },
  {
    name: 'Active version',
    cell: ({ active_version: version }) =>
      version ? String(version.version) : <Badge tone="busy">not published</Badge>,
  },
  {
    name: 'Base price a month',
    number: true,
    cell: ({ active_version: version }) =>
      version ? moneyOfMinor(version.base_price_cents, version.currency) : <Missing />,
  },
  {
    name: 'Includes',
    wraps: true,
    cell: ({ active_version: version }) =>
      version?.items
        .filter(({ included_qty }) => included_qty > 0)
        .map(
          ({ resource_kind, included_qty }) =>
            `${counted(resource_kind, included_qty)} × ${resource_kind.replaceAll('_', ' ')}`,
        )
        .join(', ') || <Missing />,
  },
  { name: 'Published', cell: ({ active_version }) => <Time at={active_version?.published_at} /> },
]

function NewPlan() {
  const [open, setOpen] = useState(false)
  if (!may('createPlan')) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        New plan
      </button>
      {open && (
        <Dialog title="New plan" onClose={() => setOpen(false)}>
          <Form
            submit="Create"
            cancel={() => setOpen(false)}
            send={async ({ code = '', name = '' }) => {
              await ok(api.POST('/api/v1/catalog/plans', { body: { code, name }, headers: once() }))
              navigate(to`/catalog/${code}`)
            }}
          >
            <Field
              label="Code"
              name="code"
              required
              pattern={CODE}
              help="Lower-case letters, digits, - and _ inside. It stays."
            />
            <Field label="Name" name="name" required maxLength={200} />
          </Form>
        </Dialog>
      )}
    </>
  )
}
