// Runs a command with a throwaway PostgreSQL beside it: `node scripts/with-postgres.ts npm test`. The command finds it
// in TEST_DATABASE_URL; it is gone afterwards. With `--durable` first, it writes to disk as PostgreSQL does by default.
import { spawn } from 'node:child_process'
import { startPostgres, type ThrowawayPostgres } from './throwaway-postgres.ts'

const given = process.argv.slice(2)
const durable = given[0] === '--durable'
const [command, ...args] = durable ? given.slice(1) : given
if (!command) {
  process.stderr.write('usage: node scripts/with-postgres.ts [--durable] COMMAND [ARGUMENT…]\n')
  process.exit(2)
}

let postgres: ThrowawayPostgres
try {
  postgres = await startPostgres({ durable })
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}

const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, TEST_DATABASE_URL: postgres.url },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('error', error => process.stderr.write(`${command}: ${error.message}\n`))
child.on('close', async code => {
  await postgres.remove()
  // No code: ended by a signal. A negative one: it could not be started.
  process.exit(code === null ? 130 : code < 0 ? 127 : code)
})
