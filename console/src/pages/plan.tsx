// One plan: its versions side by side, and its drafts against the active one. A tenant sees what is on offer.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { useList, useQuery } from '../query.ts'
import type { PageProps } from '../routes.ts'
import { may } from '../session.tsx'
import {
  Dialog,
  Empty,
  Facts,
  Field,
  Form,
  Loading,
  moneyOfMinor,
  Page,
  ProblemBanner,
  Section,
  Shown,
  Table,
} from '../ui/index.ts'
import { Drafts, NewDraft } from './catalog/drafts.tsx'
import { counted, useScales } from './catalog/scales.ts'
import { atMost, overage } from './catalog/terms.ts'
import { Versions } from './catalog/versions.tsx'

export default function PlanPage({ params: { code = '' } }: PageProps) {
  useScales()
  const plan = useQuery(
    signal => ok(api.GET('/api/v1/catalog/plans/{code}', { params: { path: { code } }, signal })),
    [code],
  )
  const found = plan.data?.data
  return (
    <Page
      title={found ? found.name : 'Plan'}
      operation="getPlan"
      actions={found && <Rename plan={found} done={plan.reload} />}
    >
      <Shown query={plan}>
        {({ data }) => (
          <>
            <p class="quiet">
              Code <code>{code}</code>
            </p>
            {may('listPlanVersions') ? <AllVersions code={code} /> : <Offer plan={data} />}
          </>
        )}
      </Shown>
    </Page>
  )
}

function AllVersions({ code }: { code: string }) {
  const versions = useList(
    (cursor, signal) =>
      ok(
        api.GET('/api/v1/catalog/plans/{code}/versions', {
          params: { path: { code }, query: { limit: 500, cursor } },
          signal,
        }),
      ),
    [code],
  )
  const props = { code, versions: versions.rows, done: versions.reload }
  return (
    <>
      {versions.problem && <ProblemBanner problem={versions.problem} retry={versions.reload} />}
      {versions.loading && <Loading />}
      <Drafts {...props} />
      <Section title="Versions" actions={!versions.loading && <NewDraft {...props} />}>
        {versions.rows.length > 0 ? (
          <Versions versions={versions.rows} />
        ) : (
          !versions.loading && (
            <Empty>There are none yet. The first one is a draft until it is published.</Empty>
          )
        )}
        {versions.more && (
          <button type="button" disabled={versions.loadingMore} onClick={versions.more}>
            Earlier
          </button>
        )}
      </Section>
    </>
  )
}

/** What a tenant gets for its money. */
function Offer({ plan: { active_version: version } }: { plan: Schemas['Plan'] }) {
  if (!version) return <Empty>It is not on offer.</Empty>
  const { base_price_cents, currency, items } = version
  return (
    <>
      <Facts facts={[['Base price a month', moneyOfMinor(base_price_cents, currency)]]} />
      <Section title="What it includes">
        <Table
          label="Of each kind"
          list={{ rows: items }}
          id={({ resource_kind }) => resource_kind}
          empty="Nothing: everything costs what the resource prices say."
          columns={[
            { name: 'Kind', cell: ({ resource_kind }) => resource_kind.replaceAll('_', ' ') },
            {
              name: 'Included',
              number: true,
              cell: ({ resource_kind, included_qty }) => counted(resource_kind, included_qty),
            },
            { name: 'Beyond that', number: true, cell: item => overage(item, currency) },
            { name: 'At most', number: true, cell: atMost },
          ]}
        />
      </Section>
    </>
  )
}

function Rename({ plan: { code, name }, done }: { plan: Schemas['Plan']; done: () => Promise<void> }) {
  const [open, setOpen] = useState(false)
  if (!may('renamePlan')) return null
  const close = () => setOpen(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Rename
      </button>
      {open && (
        <Dialog title={`Rename ${code}`} onClose={close}>
          <Form
            submit="Rename"
            cancel={close}
            done={close}
            send={async ({ name: typed = name }) => {
              const params = { path: { code } }
              await ok(api.PATCH('/api/v1/catalog/plans/{code}', { params, body: { name: typed } }))
              await done()
            }}
          >
            <Field label="Name" name="name" required maxLength={200} value={name} />
          </Form>
        </Dialog>
      )}
    </>
  )
}
