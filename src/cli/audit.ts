// cloudops audit verify [--head SEQ:HASH] [--checkpoints FOLDER_OR_FILE]
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, documentIn, unlikeCopy } from '../features/audit-log/index.ts'
import { type Command, CommandError, paint, print, text, usageError } from './command.ts'
import { type ServiceClient, serviceClient } from './service-client.ts'

interface Verdict {
  intact: boolean
  entries: number
  unkeyed: number
  head: { seq: number; hash: string } | null
  checkpoints: number
  published: { backend: string; checkpoint: number | null; error: string | null } | null
  broken_at: number | null
  reason: string | null
}

const base = '/api/v1/admin/audit_log'

export const audit: Command = {
  usage: 'verify [--head SEQ:HASH] [--checkpoints FOLDER_OR_FILE]',
  summary: 'Verify the chain of the running service’s audit log.',
  details:
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT), which checks its chain, its signed checkpoints and their copies at the active storage backend. --checkpoints compares copies that you keep yourself; --head a head that was printed earlier. Exits with 1 when anything does not hold.',
  options: { head: { type: 'string' }, checkpoints: { type: 'string' } },
  async run({ positionals, options }) {
    if (positionals.length !== 1 || positionals[0] !== 'verify') throw usageError('audit takes `verify`')
    const noted = text(options, 'head')
    const kept = text(options, 'checkpoints')
    const copies = kept === undefined ? [] : copiesAt(kept)
    const query = noted === undefined ? '' : `?head=${encodeURIComponent(noted)}`
    const client = await serviceClient()
    const { data } = await client.get<{ data: Verdict }>(`${base}/verify${query}`)
    if (!data.intact) throw broken(data.broken_at, data.reason)
    await compare(client, copies)
    print(`${paint('green', 'intact')}: ${data.entries} entries, ${data.checkpoints} checkpoints`)
    if (data.unkeyed > 0) print(`from before the chain had a key: ${data.unkeyed}`)
    if (data.published) print(publishedLine(data.published))
    if (copies.length > 0) print(`compared with your copies: ${copies.length}`)
    if (data.head) print(`head: ${data.head.seq}:${data.head.hash}`)
  },
}

const broken = (at: number | null, reason: string | null) =>
  new CommandError(`the audit log is broken at ${at}: ${reason}`)

const publishedLine = ({ backend, checkpoint, error }: NonNullable<Verdict['published']>): string =>
  error === null
    ? `published in ${backend}: ${checkpoint === null ? 'none yet' : `up to checkpoint ${checkpoint}`}`
    : `${paint('yellow', 'not compared')} with ${backend}: ${error}`

function copiesAt(path: string): Document[] {
  let files: string[]
  try {
    files = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
          .filter(name => name.endsWith('.json'))
          .map(name => join(path, name))
      : [path]
  } catch {
    throw new CommandError(`${path} cannot be read`)
  }
  if (files.length === 0) throw new CommandError(`there is no checkpoint in ${path}`)
  return files.map(file => {
    const document = documentIn(readFileSync(file, 'utf8'))
    if (!document) throw new CommandError(`${file} is no checkpoint of an audit log`)
    return document
  })
}

async function compare(client: ServiceClient, copies: Document[]): Promise<void> {
  if (copies.length === 0) return
  const standing = new Map<number, Document>()
  for (const checkpoint of await client.all<Document>(`${base}/checkpoints`))
    standing.set(checkpoint.number, checkpoint)
  for (const copy of copies) {
    const unlike = unlikeCopy(copy, standing.get(copy.number))
    if (unlike) throw broken(unlike.broken_at, unlike.reason)
  }
}
