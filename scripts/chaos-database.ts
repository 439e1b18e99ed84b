// The long run of every writing operation under faults of the database: `npm run chaos:database -- [--minutes N] [--seed N]
// [--clients N] [--history FILE]`, 30 minutes unless said otherwise. A primary, its standby, the proxy, the service's
// processes and the sandbox are all its own. Prints a report and one line for each finding, and ends with 1 when there is
// one.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chaosDatabase } from '../test/chaos/database/campaign.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '10' },
    history: { type: 'string' },
  },
})
const count = (name: 'minutes' | 'seed' | 'clients') => {
  if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new Error(`--${name} takes a count`)
  return Number(values[name])
}
const minutes = count('minutes')
const share = (whole: number) => Math.ceil((whole * minutes) / 30)

const ends: (() => Promise<void> | void)[] = []
const end = async () => {
  for (const one of ends.splice(0).reverse()) await one()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(130)))
try {
  const owner = { after: (one: () => Promise<void> | void) => void ends.push(one) }
  const { report, history } = await chaosDatabase(owner, {
    seed: count('seed'),
    clients: count('clients'),
    api: 2,
    workers: 2,
    paceMs: 1_500,
    faults: {
      // The faults themselves may take a little longer than planned.
      seconds: minutes * 57,
      lost: 0.3,
      extraSeconds: 0,
      longestFreezeMs: 60_000,
      counts: {
        freezes: share(72),
        restarts: share(24),
        failovers: share(6),
        api_kills: share(40),
        worker_kills: share(20),
        cuts: share(100),
        delays: share(40),
      },
    },
    required: {
      writes: share(5_000),
      lost_commits: share(500),
      freezes: share(60),
      restarts: share(20),
      failovers: share(5),
    },
    settleMs: 240_000,
    onProgress: line => void process.stderr.write(`${line}\n`),
  })
  if (values.history)
    writeFileSync(values.history, history.map(intent => `${JSON.stringify(intent)}\n`).join(''))
  const { findings, ...figures } = report
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  for (const finding of findings) process.stdout.write(`finding: ${finding}\n`)
  process.stdout.write(`${findings.length} findings\n`)
  process.exitCode = findings.length === 0 ? 0 : 1
} finally {
  await end()
}
