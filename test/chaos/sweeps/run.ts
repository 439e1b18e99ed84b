// Generated sweeps over generated worlds with generated faults, each held against the model. One database for all.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { Deps } from '../../../src/deps.ts'
import { LostRunError, syncKind } from '../../../src/features/inventory/sync-kind.ts'
import type { RunStatus } from '../../../src/features/inventory/sync-run.ts'
import { startRun } from '../../../src/features/inventory/sync-run-store.ts'
import { createProvider, type Limits, oneProvider } from '../../../src/integrations/digitalocean/index.ts'
import type { Engine } from '../../../src/kernel/db/engine.ts'
import { transaction } from '../../../src/kernel/db/transaction.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { type Event, type Model, see, shownIn, strike, wasWhole } from './model.ts'
import {
  type ChaosKind,
  chaosProvider,
  FAULTS,
  type Fault,
  PER_PAGE,
  type Source,
  sourceNames,
  sourcesOf,
} from './provider.ts'

const limits: Partial<Limits> = {
  rates: [],
  endpointRates: {},
  attempts: 3,
  backoffBaseMs: 1,
  perPage: PER_PAGE,
  maxPages: 8,
}

interface Change {
  source: Source
  what: 'add' | 'remove' | 'change'
  pick: number
}

interface Step {
  kind: ChaosKind
  changes: Change[]
  faults: Fault[]
  /** The same sweep once more, as a retried job would run it. */
  again: boolean
}

const KINDS = [
  'volume',
  'volume',
  'droplet',
  'droplet',
  'reserved_ip',
  'database',
] as const satisfies ChaosKind[]

const step = (): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constantFrom(...KINDS),
    changes: fc.array(
      fc.record({
        source: fc.constantFrom(...sourceNames, 'volume', 'droplet'),
        what: fc.constantFrom('add', 'add', 'add', 'remove', 'change'),
        pick: fc.nat(9),
      }),
      { maxLength: 6 },
    ),
    faults: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Fault[]>([]) },
      {
        weight: 5,
        arbitrary: fc.array(
          fc.record({
            name: fc.constantFrom(...FAULTS),
            from: fc.constantFrom(0, 0, 0, 1, 1, 2, 3),
            times: fc.integer({ min: 1, max: 4 }),
          }),
          { minLength: 1, maxLength: 2 },
        ),
      },
    ),
    again: fc.nat(4).map(n => n === 0),
  })

export interface Figures {
  worlds: number
  /** Without those that were finished already and did nothing. */
  sweeps: number
  /** Of these, the sweeps that met at least one fault. */
  faulty: number
  outcomes: Record<'complete' | 'partial' | 'failed' | 'lost' | 'repeated', number>
  events: Record<Event['kind'], number>
  strikes: number
  requests: number
  most_requests_of_a_sweep: number
  /** Sweeps that met each fault. */
  met: Record<string, number>
}

export interface ChaosOptions {
  engine: Engine
  sweeps: number
  seed: number
  onProgress?: (figures: Figures) => void
}

/** Throws at the first sweep that does not end as the model says, with the shortest sequence that leads there. */
export async function chaosSweeps({ engine, sweeps, seed, onProgress }: ChaosOptions): Promise<Figures> {
  const figures: Figures = {
    worlds: 0,
    sweeps: 0,
    faulty: 0,
    outcomes: { complete: 0, partial: 0, failed: 0, lost: 0, repeated: 0 },
    events: { discovered: 0, updated: 0, deleted: 0, restored: 0 },
    strikes: 0,
    requests: 0,
    most_requests_of_a_sweep: 0,
    met: {},
  }
  let wrong = false
  for (let round = 0; figures.sweeps < sweeps; round++) {
    const sequence = fc.array(step(), { minLength: 1, maxLength: 60, size: 'max' })
    const property = fc.asyncProperty(sequence, async steps => {
      // Once something is wrong, only the shortest way there is looked for, however long that takes.
      if (!wrong && figures.sweeps >= sweeps) return
      try {
        await live(engine, steps, figures, wrong ? Number.POSITIVE_INFINITY : sweeps)
      } catch (error) {
        wrong = true
        throw error
      }
      onProgress?.(figures)
    })
    await fc.assert(property, { seed: seed + round, numRuns: 100, endOnFailure: false })
  }
  return figures
}

/** One world from its beginning: after each step the database must look as the model does. */
async function live(engine: Engine, steps: Step[], figures: Figures, enough: number): Promise<void> {
  await empty(engine)
  const simulated = chaosProvider()
  let time = Date.parse('2026-01-01T00:15:00Z')
  let providerTime = 0
  const pass = (ms: number) => {
    providerTime += ms
  }
  const provider = createProvider({
    baseUrl: 'http://provider.test',
    token: 'chaos',
    fetch: simulated.fetch,
    limits,
    random: () => 1,
    timer: { now: () => providerTime, sleep: async ms => pass(ms) },
  })
  const kernel = {
    engine,
    db: engine.db,
    clock: { now: () => new Date(time) },
    log: pino({ level: 'silent' }),
    providers: oneProvider(provider),
    platformTenantId: 'platform',
  } as unknown as Deps
  const models = new Map<ChaosKind, Model>(KINDS.map(kind => [kind, new Map()]))

  async function sweep(
    kind: ChaosKind,
    sweepId: string,
    faults: Fault[],
    finished: boolean,
  ): Promise<RunStatus | 'lost'> {
    time += 3_600_000
    const startedAt = new Date(time).toISOString()
    const stop = new AbortController()
    simulated.begin(faults, {
      stopWorker: () => stop.abort(new Error('the worker stops')),
      takeOver: async () => {
        const run = { id: newId(), sweep_id: newId(), kind, started_at: new Date(time).toISOString() }
        await transaction(engine.db, tx => startRun(tx, run))
      },
      setClockBack: () => {
        time -= 600_000
      },
    })
    let thrown: unknown
    const outcome = await syncKind(kernel, { kind, sweepId }, { signal: stop.signal, log: kernel.log }).catch(
      error => {
        thrown = error
        return undefined
      },
    )
    const answers = simulated.answers()
    const model = models.get(kind)!
    const before = new Map([...model].map(([id, row]) => [id, { ...row }]))
    const what = `${kind}, faults ${JSON.stringify(faults)}`
    if (!finished) figures.sweeps += 1
    figures.requests += answers.requests
    figures.most_requests_of_a_sweep = Math.max(figures.most_requests_of_a_sweep, answers.requests)
    if (answers.met.size > 0) figures.faulty += 1
    for (const name of answers.met) figures.met[name] = (figures.met[name] ?? 0) + 1

    const expected: Event[] = []
    let result: keyof Figures['outcomes']
    if (finished) {
      assert.deepEqual(
        [outcome, thrown, answers.requests],
        [null, undefined, 0],
        `${what}: it was finished already`,
      )
      result = 'repeated'
    } else if (thrown instanceof LostRunError) {
      assert.ok(answers.met.has('run_taken_over'), `${what}: lost to nobody`)
      expected.push(...see(model, shownIn(answers)))
      result = 'lost'
    } else if (thrown !== undefined) {
      // Busy or stopped: nothing is concluded, and nothing was written yet.
      assert.ok(answers.met.has('busy_429') || answers.met.has('worker_stops'), `${what}: ${thrown}`)
      result = 'failed'
    } else {
      const whole = wasWhole(kind, answers)
      const shown = shownIn(answers)
      expected.push(...see(model, shown))
      if (whole) expected.push(...strike(model, shown))
      result = whole ? 'complete' : answers.pages.length > 0 ? 'partial' : 'failed'
      assert.equal(outcome?.status, result, what)
    }
    figures.outcomes[result] += 1

    const run = await engine.db
      .selectFrom('sync_runs')
      .selectAll()
      .where('sweep_id', '=', sweepId)
      .where('kind', '=', kind)
      .executeTakeFirstOrThrow()
    if (result === 'complete') assert.deepEqual([run.status, run.error], ['complete', null], what)
    else if (result !== 'repeated')
      assert.ok(
        run.status !== 'complete' && run.status !== 'running' && run.error && run.struck === 0,
        `${what}: ${run.status}`,
      )

    await compare(kind, model, expected, startedAt, what)
    for (const event of expected) figures.events[event.kind] += 1
    figures.strikes += [...model].filter(([id, row]) => row.strikes > (before.get(id)?.strikes ?? 0)).length
    checkAgainstTheWorld(kind, expected, before, what)

    // Every request is a page asked for, at most three times; no listing has more pages than its bound.
    assert.ok(
      answers.requests <= 3 * (limits.maxPages! + 1) * sourcesOf(kind).length,
      `${what}: ${answers.requests} requests`,
    )
    return result === 'repeated' ? run.status : result
  }

  async function compare(kind: ChaosKind, model: Model, expected: Event[], startedAt: string, what: string) {
    const { rows } = await sql<{
      provider_id: string
      revision: number | null
      strikes: number
      deleted: boolean
    }>`
      select provider_id, (attrs->'revision')::int as revision, stale_strike_count as strikes, deleted_at is not null as deleted
      from cloud_resources where kind = ${kind}`.execute(engine.db)
    const found = Object.fromEntries(
      rows.map(({ provider_id, revision, ...row }) => [
        provider_id,
        { revision: revision ?? undefined, ...row },
      ]),
    )
    assert.deepEqual(found, Object.fromEntries(model), what)
    const told = await sql<Event>`
      select e.kind, r.provider_id from cloud_resource_events e join cloud_resources r on r.id = e.resource_id
      where e.created_at >= ${startedAt}`.execute(engine.db)
    const sorted = (events: Event[]) => events.map(event => `${event.provider_id} ${event.kind}`).sort()
    assert.deepEqual(sorted(told.rows), sorted(expected), what)
  }

  /** Beside the model: what is at the provider, or was missed fewer than three times, is not deleted. */
  function checkAgainstTheWorld(kind: ChaosKind, events: Event[], before: Model, what: string): void {
    const present = new Set(
      sourcesOf(kind).flatMap(source => simulated.things[source].map(thing => thing.id)),
    )
    for (const { provider_id } of events.filter(event => event.kind === 'deleted')) {
      assert.ok(!present.has(provider_id), `${what}: ${provider_id} is at the provider`)
      assert.equal(before.get(provider_id)?.strikes, 2, `${what}: ${provider_id} was not missed twice before`)
    }
  }

  figures.worlds += 1
  for (const { kind, changes, faults, again } of steps) {
    if (figures.sweeps >= enough) return
    for (const change of changes) apply(simulated, change)
    const sweepId = newId()
    const status = await sweep(kind, sweepId, faults, false)
    if (again) await sweep(kind, sweepId, [], status === 'complete' || status === 'partial')
  }
}

function apply(
  { things, nextRevision }: ReturnType<typeof chaosProvider>,
  { source, what, pick }: Change,
): void {
  const list = things[source]
  const number = source === 'gpu' ? 200 + pick : 100 + pick
  const id = source === 'droplet' || source === 'gpu' ? String(number) : `${source}-${number}`
  const thing = list[pick % Math.max(1, list.length)]
  if (what === 'add') {
    if (!list.some(other => other.id === id)) list.push({ id, revision: 1 })
  } else if (thing && what === 'remove') list.splice(list.indexOf(thing), 1)
  else if (thing) thing.revision = nextRevision()
}

/** Append-only tables refuse to be emptied; a replica's session does not fire their triggers. */
function empty(engine: Engine): Promise<void> {
  return engine.session(async session => {
    await session.query('set session_replication_role = replica')
    await session.query('truncate cloud_resource_events, cloud_resources, sync_freshness, sync_runs cascade')
    await session.query('set session_replication_role = default')
  })
}
