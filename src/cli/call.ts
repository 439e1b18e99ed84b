// cloudops call METHOD PATH [BODY] [--get FIELD] [--until FIELD=VALUE]
import { type Command, CommandError, print, text, usageError } from './command.ts'
import { serviceClient } from './service-client.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const POLL_MS = 250
const GIVE_UP_AFTER_MS = 60_000

export const call: Command = {
  usage: 'METHOD PATH [BODY] [--get FIELD] [--until FIELD=VALUE]',
  summary: 'Call the API of the running service, and print its answer.',
  details: [
    'PATH may leave out /api/v1. BODY is JSON. The token is CLOUDOPS_TOKEN, or a platform_admin’s made for development.',
    '`--get data.0.id` prints one field of the answer alone, for a script to keep; `data.name=acme.id` that of the item so named.',
    '`--until data.status=completed` asks again, for a minute, until the field is that; with it METHOD must be GET.',
  ].join('\n'),
  options: { get: { type: 'string' }, until: { type: 'string' } },
  async run({ positionals: [method = '', path = '', body, ...rest], options }) {
    if (!METHODS.includes(method) || !path.startsWith('/') || rest.length > 0)
      throw usageError(`call takes a method (${METHODS.join(', ')}), a path and, if need be, a body`)
    const [get, until] = [text(options, 'get'), conditionOf(text(options, 'until'))]
    if (until && method !== 'GET') throw usageError('--until asks again and again: only GET may be repeated')
    const client = await serviceClient()
    const ask = () => client.call<unknown>(method, fullPath(path), parsed(body))
    const answer = until ? await askUntil(ask, until) : await ask()
    const shown = get === undefined ? answer : fieldOf(answer, get)
    if (shown === undefined) throw new CommandError(`The answer has no ${get}:\n${JSON.stringify(answer)}`)
    print(typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2))
  },
}

const fullPath = (path: string): string => (path.startsWith('/api/') ? path : `/api/v1${path}`)

function parsed(body: string | undefined): object | undefined {
  if (body === undefined) return undefined
  try {
    return JSON.parse(body)
  } catch (error) {
    throw usageError(`the body is not JSON: ${(error as Error).message}`)
  }
}

interface Condition {
  field: string
  value: string
}

function conditionOf(words: string | undefined): Condition | undefined {
  if (words === undefined) return undefined
  const at = words.lastIndexOf('=')
  if (at < 1) throw usageError('--until takes FIELD=VALUE')
  return { field: words.slice(0, at), value: words.slice(at + 1) }
}

async function askUntil(ask: () => Promise<unknown>, { field, value }: Condition): Promise<unknown> {
  for (const started = Date.now(); ; ) {
    const answer = await ask()
    const seen = fieldOf(answer, field)
    if (String(seen) === value) return answer
    if (Date.now() - started > GIVE_UP_AFTER_MS)
      throw new CommandError(
        `${field} did not become ${value} within a minute; it is ${JSON.stringify(seen)}.`,
      )
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** `data.0.id`, `data.name=acme.id`: members by name, items by number or by what one of their members is. */
function fieldOf(answer: unknown, path: string): unknown {
  let found = answer
  for (const word of path.split('.')) {
    const [member = '', value] = word.split('=')
    if (Array.isArray(found) && value !== undefined)
      found = found.find(item => String(fieldOf(item, member)) === value)
    else if (typeof found === 'object' && found !== null && Object.hasOwn(found, word))
      found = (found as Record<string, unknown>)[word]
    else return undefined
  }
  return found
}
