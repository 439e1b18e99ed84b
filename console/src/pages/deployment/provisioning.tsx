// What a deployment runs on: its resources, giving it a droplet, taking its droplets away, and the runs that do it.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { type List, useList } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { may } from '../../session.tsx'
import {
  announce,
  Badge,
  Confirm,
  Dialog,
  Field,
  Form,
  Missing,
  Section,
  Table,
  Time,
  type Values,
} from '../../ui/index.ts'

type Deployment = Schemas['DeploymentDetail']
type Resource = Schemas['Resource']

const UNDER_WAY = ['pending', 'running', 'compensating']

export function Provisioning({ deployment }: { deployment: Deployment }) {
  const { id } = deployment
  const [busy, setBusy] = useState(false)
  const runs = useList(
    async (cursor, signal) => {
      const query = { deployment_id: id, cursor }
      const page = await ok(api.GET('/api/v1/sagas', { params: { query }, signal }))
      setBusy(page.data.some(({ status }) => UNDER_WAY.includes(status)))
      return page
    },
    [id],
    { every: busy ? 2_000 : 15_000, when: may('listSagas') },
  )
  const resources = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory', { params: { query: { deployment_id: id, cursor } }, signal })),
    [id],
    // A quick run may have ended before it was ever seen under way.
    { when: may('listResources'), again: runs.rows.map(({ id, status }) => [id, status]) },
  )
  return (
    <>
      {may('listResources') && (
        <Section
          title="Resources"
          actions={
            <>
              <Provision deployment={deployment} done={runs.reload} />
              <Deprovision deployment={deployment} resources={resources} done={runs.reload} />
              <Link href={to`/inventory?deployment_id=${id}`}>In the inventory</Link>
            </>
          }
        >
          <Resources list={resources} />
        </Section>
      )}
      {may('listSagas') && (
        <Section title="Runs">
          <Runs list={runs} />
        </Section>
      )}
    </>
  )
}

const Resources = ({ list }: { list: List<Resource> }) => (
  <Table
    label="Resources of the deployment"
    list={list}
    id={({ id }) => id}
    empty="It has no resources."
    columns={[
      { name: 'Name', cell: ({ id, name }) => <Link href={to`/inventory/${id}`}>{name || id}</Link> },
      { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
      { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
      { name: 'Region', cell: ({ region }) => region ?? <Missing /> },
      { name: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    ]}
  />
)

const Runs = ({ list }: { list: List<Schemas['SagaRun']> }) => (
  <Table
    label="Runs, newest first"
    list={list}
    id={({ id }) => id}
    empty="Nothing was provisioned or taken away yet."
    columns={[
      {
        name: 'What',
        cell: ({ id, kind }) => <Link href={to`/sagas/${id}`}>{kind.replaceAll('_', ' ')}</Link>,
      },
      { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
      { name: 'Started', cell: ({ created_at }) => <Time at={created_at} /> },
      { name: 'Error', cell: ({ error }) => error?.reason ?? <Missing /> },
    ]}
  />
)

interface ActProps {
  deployment: Deployment
  done: () => Promise<void>
}

function Provision({ deployment: { id, region, display_name }, done }: ActProps) {
  const [open, setOpen] = useState(false)
  if (!may('provisionDeployment')) return null
  const close = () => setOpen(false)
  const send = async ({ size = '', image = '', ...rest }: Values) => {
    // The provider's own images have slugs, those of the account numbers.
    const body = { size, image: /^\d+$/.test(image) ? Number(image) : image, ...rest }
    await ok(
      api.POST('/api/v1/deployments/{id}/provision', { params: { path: { id } }, body, headers: once() }),
    )
    announce('The run is started')
    await done()
  }
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Provision
      </button>
      {open && (
        <Dialog title={`Give ${display_name} a droplet`} onClose={close}>
          <Form submit="Provision" send={send} done={close} cancel={close}>
            <Field label="Size" name="size" required value="s-1vcpu-1gb" help="A size of the provider." />
            <Field
              label="Image"
              name="image"
              required
              value="ubuntu-24-04-x64"
              help="A slug, or the id of an image of your own."
            />
            <Field label="Region" name="region" help={`Default: ${region}.`} />
            <Field label="Name" name="name" help="A hostname. Default: the slug and a short unique part." />
          </Form>
        </Dialog>
      )}
    </>
  )
}

function Deprovision({ deployment, resources, done }: ActProps & { resources: List<Resource> }) {
  const [open, setOpen] = useState(false)
  if (!may('deprovisionDeployment')) return null
  const { id, slug, display_name } = deployment
  const droplets = resources.rows.filter(({ kind }) => kind === 'droplet')
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Deprovision
      </button>
      {open && (
        <Confirm
          title={`Take the droplets of ${display_name} away`}
          name={slug}
          act="Destroy the droplets"
          onClose={() => setOpen(false)}
          run={async () => {
            const params = { path: { id } }
            await ok(api.POST('/api/v1/deployments/{id}/deprovision', { params, headers: once() }))
            announce('The run is started')
            await done()
          }}
        >
          <p>
            Every droplet of the deployment is destroyed at the provider, as its lists are at that moment.
            That cannot be undone.{' '}
            {droplets.length > 0 ? 'The inventory knows of:' : 'The inventory knows of none.'}
          </p>
          <ul>
            {droplets.map(droplet => (
              <li key={droplet.id}>{droplet.name}</li>
            ))}
          </ul>
        </Confirm>
      )}
    </>
  )
}
