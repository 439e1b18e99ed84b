// Decides what a world of any size holds and is billed. Item number i is computed from i and the seed whenever it is
// asked for: a million droplets take no memory, and two worlds of one seed are alike to the byte.
import {
  type Billing,
  endedPeriods,
  hoursIn,
  type Invoice,
  type InvoiceLine,
  invoice,
  type Lines,
  periodBefore,
} from './billing.ts'
import type { LazyBase } from './collection.ts'
import { type GeneratedCounts, generatedBases, generatedTags, type Revisions } from './generated-items.ts'
import { type Droplet, type Kind, namedUuid, type ProjectResource, parseUrn, urnOf } from './kinds.ts'
import { createWorld, project, projectResource, removeResource, type World } from './world.ts'

const SINCE = '2026-01-05T08:00:00Z'

export type GeneratedOptions = GeneratedCounts & {
  seed?: number
  projects?: number
  invoiceLines?: number
  startedAt?: Date
}

type Changeable = 'droplet' | 'volume'

export type GeneratedWorld = World & {
  /** Changes exactly that share of a kind (droplets are resized, volumes grow); returns how many. */
  change(options: { percent: number; kind?: Changeable }): number
  /** Deletes exactly that share of what the kind began with; returns how many were still there. */
  remove(options: { percent: number; kind?: Changeable }): number
}

/** Spreads exactly `percent` of `count` evenly, without keeping a list. */
function isHit(index: number, percent: number, offset: number): boolean {
  const share = percent / 100
  return Math.floor((index + 1) * share + offset) > Math.floor(index * share + offset)
}

export function generated(options: GeneratedOptions): GeneratedWorld {
  const seed = options.seed ?? 1
  const startedAt = options.startedAt ?? new Date('2026-09-15T12:00:00Z')
  const layers: Record<Changeable, { percent: number; offset: number }[]> = { droplet: [], volume: [] }
  const revisions: Revisions = (kind, index) => {
    const changes = kind === 'droplet' || kind === 'volume' ? layers[kind] : []
    return changes.filter(layer => isHit(index, layer.percent, layer.offset)).length
  }
  const bases = generatedBases(options, seed, revisions)
  const names = Array.from({ length: Math.max(1, options.projects ?? 10) }, (_, index) =>
    index === 0 ? 'platform' : `tenant-${String(index).padStart(4, '0')}`,
  )
  const projects = names.map((name, index) =>
    project({
      name,
      description: '',
      purpose: 'Web Application',
      environment: 'Production',
      isDefault: index === 0,
      createdAt: SINCE,
      id: namedUuid(`generated-project:${name}`),
    }),
  )
  const projectBases = new Map(
    projects.map(({ id }, index) => [id, membersOf(index, projects.length, bases)] as const),
  )
  const world = createWorld({
    startedAt,
    account: {
      droplet_limit: 2_000_000,
      floating_ip_limit: 100_000,
      email: 'ops@generated.example',
      uuid: namedUuid(`generated-account:${seed}`).replaceAll('-', ''),
      email_verified: true,
      status: 'active',
      status_message: '',
    },
    billing: generatedBilling(
      startedAt,
      options.invoiceLines ?? Math.min(options.droplets ?? 0, 1000),
      bases.droplet,
    ),
    bases,
    projects,
    projectBases,
  })
  for (const tag of generatedTags) world.tags.add(tag)
  const countOf = (kind: Changeable) => bases[kind]?.count ?? 0
  return Object.assign(world, {
    change({ percent, kind = 'droplet' }: { percent: number; kind?: Changeable }) {
      // A later change of the same share starts elsewhere, so that it hits other items too.
      const layer = { percent, offset: (layers[kind].length * 0.37) % 1 }
      layers[kind].push(layer)
      return count(countOf(kind), index => isHit(index, layer.percent, layer.offset))
    },
    remove({ percent, kind = 'droplet' }: { percent: number; kind?: Changeable }) {
      const base = bases[kind] as LazyBase<{ id: string | number }> | undefined
      return count(countOf(kind), index => {
        if (!isHit(index, percent, 0)) return false
        return removeResource(world, kind, String(base!.at(index).id)) !== undefined
      })
    },
  })
}

function count(total: number, passes: (index: number) => boolean): number {
  let hits = 0
  for (let index = 0; index < total; index += 1) if (passes(index)) hits += 1
  return hits
}

/** Project number p of n holds every item whose index leaves the rest p when divided by n. */
function membersOf(
  number: number,
  of: number,
  bases: ReturnType<typeof generatedBases>,
): LazyBase<ProjectResource> {
  const kinds = (Object.keys(bases) as Kind[]).filter(kind => urnOf(kind, 'x') !== undefined)
  const sizeIn = (kind: Kind) => Math.max(0, Math.ceil((bases[kind]!.count - number) / of))
  return {
    count: kinds.reduce((sum, kind) => sum + sizeIn(kind), 0),
    at(index) {
      let rest = index
      for (const kind of kinds) {
        if (rest < sizeIn(kind)) {
          const base = bases[kind] as LazyBase<object> & { idAt(index: number): string }
          return projectResource(urnOf(kind, base.idAt(rest * of + number))!, SINCE)
        }
        rest -= sizeIn(kind)
      }
      throw new RangeError(`project ${number} has no resource ${index}`)
    },
    indexOf(urn) {
      const spoken = parseUrn(urn)
      let before = 0
      for (const kind of kinds) {
        const alike = spoken?.kind === kind || (spoken?.kind === 'droplet' && kind === 'gpu_droplet')
        const found = alike ? bases[kind]!.indexOf(spoken!.id) : -1
        if (found >= 0 && found < bases[kind]!.count) {
          return found % of === number ? before + Math.floor(found / of) : -1
        }
        before += sizeIn(kind)
      }
      return -1
    },
  }
}

// Decides what a generated world is billed: as many lines as asked for, each computed when it is read, so
// that an invoice of a million lines can be downloaded without being held anywhere.

function lazyLines(length: number, droplets: LazyBase<Droplet> | undefined, hours: number): Lines {
  const at = (index: number): InvoiceLine | undefined => {
    if (index < 0 || index >= length) return undefined
    if (index === length - 1) {
      return { product: 'Taxes', description: 'STATE SALES TAX (6.25%)', cents: length, category: 'iaas' }
    }
    const droplet = droplets === undefined ? undefined : droplets.at(index % droplets.count)
    return {
      product: 'Droplets',
      description:
        droplet === undefined ? `vm-${index} (s-1vcpu-1gb)` : `${droplet.name} (${droplet.size_slug})`,
      hours,
      cents: Math.round((droplet?.size.price_monthly ?? 6) * 100),
      project: 'platform',
      category: 'iaas',
    }
  }
  return {
    length,
    at,
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index += 1) yield at(index)!
    },
  }
}

export function generatedBilling(
  startedAt: Date,
  lines: number,
  droplets: LazyBase<Droplet> | undefined,
): Billing {
  const first = periodBefore(startedAt, 2)
  // The total takes a walk over all lines: once for each period is enough.
  const known = new Map<string, Invoice>()
  const of = (period: string) => {
    const billed = known.get(period) ?? invoice(period, lazyLines(lines, droplets, hoursIn(period)))
    known.set(period, billed)
    return billed
  }
  return {
    currency: 'USD',
    customer: { name: 'Generated', company: 'Generated', email: 'billing@generated.example' },
    invoices: now => endedPeriods(first, now).map(of),
    preview: now => of(periodBefore(now, 0)),
  }
}
