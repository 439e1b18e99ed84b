// Writes docs/examples.json: walks through what the README tells, and what goes wrong beside it, on a service of its own
// with a simulated provider and finance service, and keeps what was asked and answered. Ids differ from run to run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { writingOperations } from '../test/support/description.ts'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import { type Bundle, type SetupOptions, setup } from '../test/support/setup.ts'
import { administer } from './examples/administer.ts'
import { bill } from './examples/bill.ts'
import { budget } from './examples/budget.ts'
import { moveTime, refuseTime } from './examples/clock.ts'
import { deploy } from './examples/deploy.ts'
import { drift } from './examples/drift.ts'
import { breakIt, overrun } from './examples/faults.ts'
import { find } from './examples/find.ts'
import { hold } from './examples/hold.ts'
import { meter } from './examples/meter.ts'
import { mirror } from './examples/mirror.ts'
import { notify } from './examples/notify.ts'
import { people } from './examples/people.ts'
import { asText, emptyExamples, type Teller, teller } from './examples/recorder.ts'
import { sell } from './examples/sell.ts'
import { store } from './examples/store.ts'
import { wait } from './examples/wait.ts'

const examples = emptyExamples()
const DATA_DIR = mkdtempSync(join(tmpdir(), 'cloudops-examples-'))
await prepareDatabases()

const whole: SetupOptions = {
  worker: true,
  findings: true,
  provider: { actionDelayMs: 20 },
  // Longer than the provider is made busy for: the run that is cancelled meanwhile must still be waiting.
  providerLimits: { troubleMs: 5_000 },
  finance: {},
  env: { DATA_DIR },
}
await walk(whole, async told => {
  await mirror(told)
  await sell(told)
  const shop = await deploy(told)
  await drift(told, shop)
  await find(told)
  await bill(told, shop)
  await store(told)
  await administer(told)
  await meter(told, shop)
  await budget(told, shop)
  await people(told)
  await moveTime(told)
})
await walk({ worker: true, provider: {} }, hold)
await walk({ provider: {} }, wait)
await walk({}, notify)
await walk({ env: { NODE_ENV: 'production', DATABASE_URL: 'postgres://not-used/here' } }, refuseTime)
await walk({ extend: breakIt.routes }, breakIt.walk)
await walk({ env: { RATE_LIMIT_PER_MINUTE: '1' } }, overrun)
rmSync(DATA_DIR, { recursive: true, force: true })

const unaudited = writingOperations().filter(operation => !examples.audited.includes(operation))
if (unaudited.length > 0) throw new Error(`without an entry in the audit log: ${unaudited.join(', ')}`)

writeFileSync(join(import.meta.dirname, '../docs/examples.json'), asText(examples))
process.stdout.write(
  `${Object.keys(examples.operations).length} operations, ${Object.keys(examples.problems).length} problems\n`,
)

/** One after the other: they take turns with one database. */
async function walk(options: SetupOptions, steps: (told: Teller) => Promise<unknown>): Promise<void> {
  const ends: (() => unknown)[] = []
  const context = { after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext
  try {
    const bundle = await setup(context, options)
    await steps(teller(bundle, examples))
    await keepAudited(bundle)
  } finally {
    for (const end of ends) await end()
  }
}

async function keepAudited({ ctx }: Bundle): Promise<void> {
  const { rows } = await sql<{ operation: string }>`select distinct operation from audit_log`.execute(ctx.db)
  examples.audited = [...new Set([...examples.audited, ...rows.map(row => row.operation)])]
}
