// Writes docs/examples.json: walks through what the README tells, and what goes wrong beside it, on a service of its own
// with a simulated provider and finance service, and keeps what was asked and answered. Ids differ from run to run.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import { type SetupOptions, setup } from '../test/support/setup.ts'
import { administer } from './examples/administer.ts'
import { bill } from './examples/bill.ts'
import { deploy } from './examples/deploy.ts'
import { drift } from './examples/drift.ts'
import { breakIt, overrun } from './examples/faults.ts'
import { hold } from './examples/hold.ts'
import { mirror } from './examples/mirror.ts'
import { people } from './examples/people.ts'
import { asText, emptyExamples, type Teller, teller } from './examples/recorder.ts'
import { sell } from './examples/sell.ts'
import { wait } from './examples/wait.ts'

const examples = emptyExamples()
await prepareDatabases()

await walk({ worker: true, provider: { actionDelayMs: 20 }, finance: {} }, async told => {
  await mirror(told)
  await sell(told)
  const shop = await deploy(told)
  await drift(told, shop)
  await bill(told, shop)
  await administer(told)
  await people(told)
})
await walk({ worker: true, provider: {} }, hold)
await walk({ provider: {} }, wait)
await walk({ extend: breakIt.routes }, breakIt.walk)
await walk({ env: { RATE_LIMIT_PER_MINUTE: '1' } }, overrun)

writeFileSync(join(import.meta.dirname, '../docs/examples.json'), asText(examples))
process.stdout.write(
  `${Object.keys(examples.operations).length} operations, ${Object.keys(examples.problems).length} problems\n`,
)

/** One after the other: they take turns with one database. */
async function walk(options: SetupOptions, steps: (told: Teller) => Promise<unknown>): Promise<void> {
  const ends: (() => unknown)[] = []
  const context = { after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext
  try {
    await steps(teller(await setup(context, options), examples))
  } finally {
    for (const end of ends) await end()
  }
}
