// The long run of pushes under fire: `npm run chaos:finance [-- INVOICES KILLS]`, 1,000 invoices and 20 kills unless said
// otherwise, with three of ten of finance's answers lost after it kept the invoice. On the PostgreSQL of TEST_DATABASE_URL, in a database of
// its own. Ends with 1 unless finance has every invoice once, and the id recorded here is the one there.
import { parseArgs } from 'node:util'
import { createPostgresDatabase } from '../test/support/database.ts'
import { chaosFinance } from '../test/support/finance-chaos.ts'
import { prepareDatabases } from '../test/support/prepare-databases.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [invoices, kills] = [wholeNumber(positionals[0], 1_000), wholeNumber(positionals[1], 20)]

await prepareDatabases()
const database = await createPostgresDatabase()
const ends: (() => Promise<void> | void)[] = [() => database.drop()]
let shown = 0
try {
  const figures = await chaosFinance(
    { after: end => void ends.push(end) },
    {
      databaseUrl: database.url,
      invoices,
      workers: 2,
      kills,
      lost: 0.3,
      hurried: false,
      onProgress({ pushed, kills: killed }) {
        if (pushed - shown < invoices / 20) return
        shown = pushed
        process.stderr.write(`${pushed} of ${invoices} pushed, ${killed} workers killed\n`)
      },
    },
  )
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
} finally {
  for (const end of ends.reverse()) await end()
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${text} is no count`)
  return Number(text)
}
