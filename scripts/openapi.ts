// Writes docs/openapi.json and the table of docs/permissions.md from the code, or with --check says whether they are up to
// date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import type { Context } from '../src/context.ts'
import { createMetrics } from '../src/kernel/metrics.ts'
import { systemClock } from '../src/kernel/time.ts'
import { VERSION } from '../src/version.ts'
import { withPermissionsTable } from './permissions-table.ts'

const docs = join(import.meta.dirname, '../docs')
const secret = 'describing-the-api-needs-no-secret-at-all'
const { config } = readConfig({
  NODE_ENV: 'test',
  JWT_SECRET: secret,
  SECRET_KEY: secret,
  SESSION_SIGNING_SALT: secret,
})

// Routes touch the database and the queue only when they are called, and none is called here.
const context = {
  config,
  version: VERSION,
  log: pino({ level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  // What runs may be started is not part of the description.
  sagaKinds: [] as Context['sagaKinds'],
}
const app = await buildApp(context as Context)
await app.ready()
const description = app.swagger()
await app.close()

const made = {
  'openapi.json': `${JSON.stringify(description, null, 2)}\n`,
  'permissions.md': withPermissionsTable(readFileSync(join(docs, 'permissions.md'), 'utf8'), description),
}
for (const [name, text] of Object.entries(made)) {
  const file = join(docs, name)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
  } else if (text !== readFileSync(file, 'utf8')) {
    process.stderr.write(
      `docs/${name} is not what the code says: run \`npm run openapi\` and commit the result.\n`,
    )
    process.exitCode = 1
  }
}
