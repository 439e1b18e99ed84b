// The long run of provisioning under kills: `npm run chaos:sagas -- [--runs N] [--kills N] [--seed N] [--workers N]`,
// 300 runs and 60 kills of three workers unless said otherwise. On a throwaway PostgreSQL, or in a database of its own on
// that of TEST_DATABASE_URL. Prints a report, and ends with 1 when anything is not as it must be.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { chaosSagas } from '../test/chaos/sagas.ts'
import { startPostgres } from './throwaway-postgres.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    workers: { type: 'string', default: '3' },
  },
})
const count = (name: keyof typeof values) => {
  if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new Error(`--${name} takes a count`)
  return Number(values[name])
}
const options = { runs: count('runs'), kills: count('kills'), seed: count('seed'), workers: count('workers') }

const ends: (() => Promise<void> | void)[] = []
try {
  const databaseUrl = await ownDatabase(process.env.TEST_DATABASE_URL)
  const owner = { after: (end: () => Promise<void> | void) => void ends.push(end) }
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`)
  const report = await chaosSagas(owner, { ...options, databaseUrl, onProgress })
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  process.exitCode = report.deviations.length === 0 ? 0 : 1
} finally {
  for (const end of ends.reverse()) await end()
}

async function ownDatabase(url: string | undefined): Promise<string> {
  if (!url) {
    const postgres = await startPostgres()
    ends.push(() => postgres.remove())
    return postgres.url
  }
  const name = `chaos_${randomBytes(6).toString('hex')}`
  const run = async (text: string) => {
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(text).finally(() => admin.end())
  }
  await run(`create database ${name}`)
  ends.push(() => run(`drop database ${name} with (force)`))
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}
