// What belongs to a resource, a few steps away if asked for, and what breaks if it goes.
import { api, ok, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { filter, filters, Link, setFilters, to } from '../../router.tsx'
import { may } from '../../session.tsx'
import { Badge, Section, Shown, Table } from '../../ui/index.ts'
import type { Tone } from '../../ui/text.tsx'

type Relations = Schemas['ResourceRelations']
type Related = Relations['resources'][number]
type Relation = Relations['relations'][number]['relation']
type Effect = Relations['losses'][number]['effect']

const RELATIONS: Record<Relation, string> = {
  attached_to: 'is attached to',
  assigned_to: 'points to',
  in_vpc: 'is in',
  protects: 'protects',
  serves: 'sends traffic to',
  snapshot_of: 'is a snapshot of',
  made_from: 'was made from',
  node_of: 'is a node of',
}

const EFFECTS: Record<Effect, [words: string, tone: Tone]> = {
  destroyed: ['is destroyed with it', 'bad'],
  refuses: ['has to go first, or the provider refuses', 'bad'],
  loses_last_backend: ['loses its last backend', 'bad'],
  loses_backend: ['loses a backend', 'busy'],
  loses_node: ['loses a node', 'busy'],
  loses_disk: ['loses a disk', 'bad'],
  loses_address: ['loses an address', 'bad'],
  loses_traffic: ['gets no more traffic from it', 'bad'],
  unprotected: ['is without this firewall', 'bad'],
  cannot_be_rebuilt: ['cannot be rebuilt from it', 'busy'],
  detached: ['is left, attached to nothing', 'busy'],
  unassigned: ['is left, pointing nowhere', 'busy'],
  orphaned: ['is left without what it was taken of', 'quiet'],
}

const STEPS = ['1', '2', '3']

export function RelationsOf({ id }: { id: string }) {
  const query = filters('depth')
  const allowed = may('getResourceRelations')
  const relations = useQuery(
    signal => ok(api.GET('/api/v1/inventory/{id}/relations', { params: { path: { id }, query }, signal })),
    [id, query],
    { every: 60_000, when: allowed },
  )
  if (!allowed) return null
  return (
    <Section title="What belongs to it" actions={<Steps />}>
      <Shown query={relations}>{({ data }) => <Found id={id} {...data} />}</Shown>
    </Section>
  )
}

const Steps = () => (
  <label class="quiet">
    Steps away{' '}
    <select
      value={filter('depth') ?? '1'}
      onChange={event => setFilters({ depth: event.currentTarget.value }, { replace: true })}
    >
      {STEPS.map(steps => (
        <option key={steps}>{steps}</option>
      ))}
    </select>
  </label>
)

function Found({ id, resources, relations, losses, truncated }: Relations & { id: string }) {
  const known = new Map(resources.map(resource => [resource.id, resource]))
  const named = (one: string) => <Named id={one} resource={known.get(one)} here={one === id} />
  return (
    <>
      <Table
        label="What belongs to it"
        list={{ rows: relations }}
        id={({ from_id, relation, to_id }) => `${from_id} ${relation} ${to_id}`}
        empty="Nothing that the provider tells of."
        columns={[
          { name: 'What', cell: ({ from_id }) => named(from_id) },
          { name: 'Relation', cell: ({ relation }) => RELATIONS[relation] },
          { name: 'To what', cell: ({ to_id }) => named(to_id) },
        ]}
      />
      {truncated && <p class="quiet">There is more: some is left out.</p>}
      <h3>What breaks if it goes</h3>
      <Table
        label="What breaks if it goes"
        list={{ rows: losses }}
        id={({ resource_id, effect, because_of }) => `${resource_id} ${effect} ${because_of}`}
        empty="Nothing that is known of here."
        columns={[
          { name: 'What', cell: ({ resource_id }) => named(resource_id) },
          {
            name: 'What becomes of it',
            cell: ({ effect }) => <Badge tone={EFFECTS[effect][1]}>{EFFECTS[effect][0]}</Badge>,
          },
          // Only where something goes with it is there another cause.
          losses.some(({ because_of }) => because_of !== id) && {
            name: 'Because this goes',
            cell: ({ because_of }) => named(because_of),
          },
        ]}
      />
    </>
  )
}

function Named({ id, resource, here }: { id: string; resource: Related | undefined; here: boolean }) {
  const name = resource?.name || id
  return (
    <>
      {here ? <strong>{name}</strong> : <Link href={to`/inventory/${id}`}>{name}</Link>}{' '}
      <span class="quiet">{resource?.kind.replaceAll('_', ' ')}</span>
    </>
  )
}
