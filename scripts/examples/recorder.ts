// Keeps one request body of each operation, one answer of each of its statuses, and one problem of each code, as a reader wants to see them:
// small, and without anything that could be mistaken for a secret.
import assert from 'node:assert/strict'
import type { Examples } from '../../src/kernel/http/openapi-document.ts'
import { operationAt } from '../../test/support/description.ts'
import type { Answer, Bundle, CallOptions } from '../../test/support/setup.ts'

const MOST_ITEMS = 2
const MOST_MEMBERS = 8
const LONGEST_TEXT = 400
/** Members that hold what the provider or a workflow says: any number of anything. */
const OPEN_ENDED = new Set(['attrs', 'context', 'output', 'payload', 'as_of'])

/** Members of the API's own description: it need not hold itself. */
const SHOWN_EMPTY = new Set(['paths', 'components'])

/** What is expected: a status, or the code of a problem. */
export type Tell = (
  expected: number | string,
  method: string,
  path: string,
  options?: CallOptions,
) => Promise<Answer>

export interface Teller extends Bundle {
  /** Makes a request, insists on its outcome, and keeps it when it is the first of its sort. */
  tell: Tell
}

export const emptyExamples = (): Examples => ({ operations: {}, problems: {}, audited: [] })

export function teller(bundle: Bundle, examples: Examples): Teller {
  const tell: Tell = async (expected, method, path, options = {}) => {
    const answer = await bundle.call(method, path, options)
    const got = typeof expected === 'number' ? answer.status : answer.body?.code
    assert.equal(got, expected, `${method} ${path}: ${answer.status} ${answer.text}`)
    const operationId = operationAt(method, path)?.operationId
    if (typeof expected === 'string') keepProblem(examples, operationId, expected, answer)
    else if (operationId) keepAnswer(examples, operationId, options, answer)
    return answer
  }
  return { ...bundle, tell }
}

function keepAnswer({ operations }: Examples, operationId: string, { body }: CallOptions, answer: Answer) {
  operations[operationId] ??= {}
  const kept = operations[operationId]
  if (body !== undefined) kept.body ??= trimmed(body)
  const type = answer.headers.get('content-type')?.split(';')[0]
  if (!type || answer.text === '') return
  kept.answers ??= {}
  kept.answers[answer.status] ??= {}
  kept.answers[answer.status]![type] ??=
    answer.body === undefined ? firstLines(answer.text) : trimmed(answer.body)
}

/** A code that two operations give for different reasons is kept for both. */
function keepProblem({ problems }: Examples, operationId: string | undefined, code: string, answer: Answer) {
  const known = problems[code]
  const alike = !known || known.detail === answer.body.detail || known.status !== 409
  problems[alike ? code : `${operationId}.${code}`] ??= trimmed(answer.body) as Examples['problems'][string]
}

function trimmed(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return shownText(value, name)
  if (Array.isArray(value)) {
    // A list of words is cut later: half of the steps, or of the states, would be wrong rather than short.
    const most = value.some(item => typeof item === 'object') ? MOST_ITEMS : MOST_MEMBERS
    return value.slice(0, most).map(item => trimmed(item))
  }
  if (typeof value !== 'object' || value === null) return value
  const members = SHOWN_EMPTY.has(name) ? [] : Object.entries(value)
  const most = OPEN_ENDED.has(name) ? MOST_MEMBERS : members.length
  return Object.fromEntries(members.slice(0, most).map(([key, member]) => [key, trimmed(member, key)]))
}

function shownText(text: string, name: string): string {
  // The prefix is public; what follows it is the secret.
  if (name === 'api_key') return text.replace(/_[^_]+_[^_]+$/, `_${'EXAMPLE'.padEnd(43, '0')}_000000`)
  if (text.startsWith('whsec_')) return `whsec_${'EXAMPLE'.padEnd(43, '0')}=`
  if (text.startsWith('inv_')) return `inv_${'EXAMPLE'.padEnd(43, '0')}`
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text
}

const firstLines = (csv: string) =>
  csv
    .split(/(?<=\n)/)
    .slice(0, 1 + MOST_ITEMS)
    .join('')
    .trimEnd()

/** The file, in an order that does not depend on the walk's. */
export function asText({ operations, problems, audited }: Examples): string {
  const inOrder = (object: object) =>
    Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
  const file = { operations: inOrder(operations), problems: inOrder(problems), audited: [...audited].sort() }
  return `${JSON.stringify(file, null, 2)}\n`
}
