// The command line: `cloudops COMMAND`. Exit codes: 0 done, 1 failed, 2 the call's words are off.
import { parseArgs } from 'node:util'
import { type Command, CommandError, EXIT, paint, print } from './cli/command.ts'
import { ConfigError } from './config.ts'
import { FolderLockedError } from './kernel/db/folder-lock.ts'
import { PortError } from './kernel/errors.ts'
import { VERSION } from './version.ts'

// Each is loaded when it is called: most call the running service, and need not wait for the parts it is made of.
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./cli/serve.ts')).serve,
  api: async () => (await import('./cli/serve.ts')).api,
  worker: async () => (await import('./cli/serve.ts')).worker,
  migrate: async () => (await import('./cli/migrate.ts')).migrate,
  config: async () => (await import('./cli/config.ts')).config,
  token: async () => (await import('./cli/token.ts')).token,
  call: async () => (await import('./cli/call.ts')).call,
  tasks: async () => (await import('./cli/tasks.ts')).tasks,
  catalog: async () => (await import('./cli/catalog.ts')).catalog,
  import: async () => (await import('./cli/import.ts')).importCustomers,
  sagas: async () => (await import('./cli/sagas.ts')).sagas,
  secrets: async () => (await import('./cli/secrets.ts')).secrets,
  audit: async () => (await import('./cli/audit.ts')).audit,
  sandbox: async () => (await import('./cli/sandbox.ts')).sandbox,
}

async function main([name, ...rest]: string[]): Promise<void> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h')
    return print(await overview())
  if (name === '--version' || name === '-v') return print(VERSION)
  const command = Object.hasOwn(commands, name) ? await commands[name]!() : undefined
  if (!command)
    throw new CommandError(`There is no command ${name}. \`cloudops --help\` lists them.`, EXIT.usage)
  const { values, positionals } = read(command, name, rest)
  if (values.help) return print(helpOf(name, command))
  if (positionals.length > 0 && command.usage === '')
    throw new CommandError(`${name} takes no arguments.`, EXIT.usage)
  await command.run({ positionals, options: values })
}

function read(command: Command, name: string, args: string[]) {
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new CommandError(
      `${(error as Error).message}\nusage: cloudops ${name} ${command.usage}`,
      EXIT.usage,
    )
  }
}

async function overview(): Promise<string> {
  const row = async (name: string, load: () => Promise<Command>) =>
    `  ${paint('bold', name.padEnd(9))} ${(await load()).summary}`
  const rows = await Promise.all(Object.entries(commands).map(([name, load]) => row(name, load)))
  return [
    `cloudops ${VERSION}: the Cloud Operations Service`,
    '',
    'usage: cloudops COMMAND [OPTION…]',
    '',
    ...rows,
    '',
    '`cloudops COMMAND --help` says more. `cloudops config` shows the configuration.',
  ].join('\n')
}

const helpOf = (name: string, { usage, summary, details }: Command): string =>
  [`usage: cloudops ${name} ${usage}`.trimEnd(), '', summary, ...(details ? [details] : [])].join('\n')

/** What went wrong, without a stack when a person can put it right. */
function report(error: unknown): number {
  const expected = [CommandError, ConfigError, FolderLockedError, PortError].some(
    kind => error instanceof kind,
  )
  const hint = error instanceof Error && 'code' in error ? hints[String(error.code)] : undefined
  const message =
    error instanceof Error
      ? expected
        ? error.message
        : (hint?.(error) ?? error.stack ?? error.message)
      : String(error)
  process.stderr.write(`${message}\n`)
  return error instanceof CommandError ? error.exitCode : EXIT.failure
}

const unreachable = (error: Error) =>
  `The database cannot be reached: ${error.message || 'connection refused'}. Check DATABASE_URL.`

const hints: Record<string, (error: Error) => string> = {
  EADDRINUSE: error =>
    `${error.message}. Another process listens there: stop it, or set PORT and MANAGEMENT_PORT.`,
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EACCES: error => `${error.message}. Check the permissions.`,
  '28000': unreachable,
  '28P01': unreachable,
  '3D000': unreachable,
}

// Last, for it needs everything above.
try {
  await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = report(error)
}
