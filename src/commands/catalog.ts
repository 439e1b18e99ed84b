// cloudops catalog apply FILE [--dry-run], cloudops catalog export
import { type Command, usageError } from './command.ts'

export const catalog: Command = {
  usage: 'apply FILE [--dry-run] | export',
  summary: 'Make the catalog of the running service what a file says, or write it as one.',
  details:
    'FILE is YAML or JSON; - reads standard input. `apply` shows the difference, then makes it: plans whose price or items ' +
    'differ get a new version, which is published; what the file does not mention stays. `--dry-run` only shows it.\n' +
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). `export` writes YAML to standard output.',
  options: { 'dry-run': { type: 'boolean' } },
  async run({ positionals: [action, file, ...rest], options }) {
    const dryRun = options['dry-run'] === true
    // Loaded here and not at the top: the other commands need not wait for schemas and YAML.
    const load = () => import('./apply-catalog.ts')
    if (action === 'apply' && file !== undefined && rest.length === 0)
      return (await load()).applyCatalog(file, dryRun)
    if (action === 'export' && file === undefined && !dryRun) return (await load()).exportCatalog()
    throw usageError('catalog takes `apply` and a file, or `export`')
  },
}
