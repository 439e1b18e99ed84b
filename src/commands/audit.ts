// cloudops audit verify [--head SEQ:HASH]
import { type Command, CommandError, text, usageError } from './command.ts'
import { serviceClient } from './service-client.ts'
import { paint, print } from './terminal.ts'

interface Verdict {
  intact: boolean
  entries: number
  head: { seq: number; hash: string } | null
  broken_at: number | null
  reason: string | null
}

export const audit: Command = {
  usage: 'verify [--head SEQ:HASH]',
  summary: 'Verify the chain of the running service’s audit log.',
  details:
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). Note the head it prints somewhere else: given back with --head, it proves that nothing before it was changed or cut off. Exits with 1 when the chain is broken.',
  options: { head: { type: 'string' } },
  async run({ positionals, options }) {
    if (positionals.length !== 1 || positionals[0] !== 'verify') throw usageError('audit takes `verify`')
    const noted = text(options, 'head')
    const query = noted === undefined ? '' : `?head=${encodeURIComponent(noted)}`
    const client = await serviceClient()
    const { data } = await client.get<{ data: Verdict }>(`/api/v1/admin/audit_log/verify${query}`)
    if (!data.intact) throw new CommandError(`the audit log is broken at ${data.broken_at}: ${data.reason}`)
    print(`${paint('green', 'intact')}: ${data.entries} entries`)
    if (data.head) print(`head: ${data.head.seq}:${data.head.hash}`)
  },
}
