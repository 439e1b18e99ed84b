// Every deployment, and making one.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { filters, Link, navigate, to } from '../router.tsx'
import { may, seesAllTenants, session } from '../session.tsx'
import {
  Badge,
  type Column,
  Dialog,
  Field,
  type FilterField,
  Filters,
  Form,
  Page,
  Table,
  Time,
  type Values,
} from '../ui/index.ts'

type Deployment = Schemas['Deployment']

const STATES = [
  'trial',
  'active',
  'past_due',
  'paused',
  'suspended',
  'cancelled',
  'archived',
] as const satisfies Deployment['state'][]

const fields = (): FilterField[] => [
  { name: 'slug', label: 'Slug (exact)', search: true },
  { name: 'state', label: 'State', options: STATES },
  { name: 'region', label: 'Region' },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant' }] : []),
]

const columns = (): (Column<Deployment> | false)[] => [
  {
    name: 'Name',
    cell: ({ id, display_name }) => <Link href={to`/deployments/${id}`}>{display_name}</Link>,
  },
  { name: 'Slug', cell: ({ slug }) => slug },
  { name: 'State', cell: ({ state }) => <Badge>{state}</Badge> },
  seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id },
  { name: 'Region', cell: ({ region }) => region },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

export default function Deployments() {
  const query = filters('slug', 'state', 'region', 'tenant_id')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/deployments', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  return (
    <Page title="Deployments" operation="listDeployments" actions={<NewDeployment />}>
      <Filters fields={fields()} />
      <Table
        label="Deployments"
        list={list}
        columns={columns()}
        id={({ id }) => id}
        empty={
          Object.keys(query).length > 0
            ? 'No deployment matches.'
            : 'There are none yet. A deployment is what a tenant buys a plan for and what is given droplets.'
        }
      />
    </Page>
  )
}

function NewDeployment() {
  const [open, setOpen] = useState(false)
  if (!may('createDeployment')) return null
  const send = async ({ slug = '', region = 'nyc3', llm_mode = 'standard', ...rest }: Values) => {
    const body = { slug, region, llm_mode, ...rest }
    const { data } = await ok(api.POST('/api/v1/deployments', { body, headers: once() }))
    navigate(to`/deployments/${data.id}`)
  }
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        New deployment
      </button>
      {open && (
        <Dialog title="New deployment" onClose={() => setOpen(false)}>
          <Form submit="Create" send={send} cancel={() => setOpen(false)}>
            {seesAllTenants() && (
              <Field label="Tenant" name="tenant_id" required value={session.value?.tenant_id ?? undefined} />
            )}
            <Field
              label="Slug"
              name="slug"
              required
              pattern="[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?"
              help="Lower-case letters, digits and hyphens inside; unique for the tenant."
            />
            <Field
              label="Name"
              name="display_name"
              maxLength={255}
              help="As people read it. Default: the slug."
            />
            <Field label="Region" name="region" value="nyc3" />
            <Field label="LLM mode" name="llm_mode" value="standard" />
            <Field label="Template" name="template_code" maxLength={128} />
            <Field label="Version of the template" name="template_version" maxLength={128} />
          </Form>
        </Dialog>
      )}
    </>
  )
}
