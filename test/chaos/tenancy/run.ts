// Random histories, each held against the model: after every step the answers to every caller.
//
// What the model says has changed for a caller is asked for after the step that changed it, and so are all lists. The rest
// is asked for after the last step, when everything is. A history is as likely to end at one step as at another.
import fc from 'fast-check'
import type { Engine } from '../../../src/kernel/db/engine.ts'
import { makesSense, nth } from './choices.ts'
import { CLOSED, type Command, history, inWords, PRELUDE, REMEMBERED } from './commands.ts'
import { expected, readable, same, summary } from './compare.ts'
import { isList, type Look, looksAt, type Shown } from './looks.ts'
import { perform } from './perform.ts'
import { openService, type Service } from './service.ts'
import { step } from './step.ts'
import { firstWorld, type World } from './world.ts'

export interface Figures {
  histories: number
  steps: number
  requests: number
  /** Steps by what they did, and the answers to those that were requests. */
  commands: Record<string, number>
  answers: Record<string, number>
}

export interface RunOptions {
  engine: Engine
  histories: number
  seed: number
  onProgress?: (figures: Figures) => void
}

/** Throws at the first answer that is not the model's, with the shortest history that leads there. */
export async function compareHistories({
  engine,
  histories,
  seed,
  onProgress,
}: RunOptions): Promise<Figures> {
  const figures: Figures = { histories: 0, steps: 0, requests: 0, commands: {}, answers: {} }
  const service = await openService(engine)
  try {
    const property = fc.asyncProperty(history, async commands => {
      await live(service, commands, figures)
      figures.histories++
      onProgress?.(figures)
    })
    const examples = [CLOSED, ...REMEMBERED].map((commands): [Command[]] => [[...commands]])
    await fc.assert(property, { seed, numRuns: histories, examples, endOnFailure: false })
    return figures
  } finally {
    await service.close()
  }
}

async function live(service: Service, commands: readonly Command[], figures: Figures): Promise<void> {
  await service.reset()
  const world = firstWorld()
  const done: string[] = []
  let symbols = await service.symbols()
  for (const command of PRELUDE) {
    await perform(service, world, command, reversed(symbols))
    step(world, command)
    if (command.do === 'sweep') symbols = await service.symbols()
  }
  symbols = await service.symbols()
  /** What each caller was last to be shown. */
  const told = new Map<string, string>()
  news(world, told)
  for (const command of commands) {
    if (!makesSense(world, command)) continue
    done.push(inWords(command) + ('by' in command ? `, as ${nth(world.callers, command.by).name}` : ''))
    const reply = await perform(service, world, command, reversed(symbols))
    const answer = step(world, command)
    symbols = await service.symbols()
    figures.steps++
    count(figures.commands, command.do)
    if (answer) {
      count(figures.answers, `${command.do} ${answer.status} ${answer.code ?? ''}`.trim())
      const { status, code } = summary(reply!.status, readable(reply!.text, symbols), false)
      const given = code === undefined ? { status } : { status, code }
      if (!same(given, answer)) throw difference(done, 'its answer', given, answer, reply!.text)
    }
    const questions = news(world, told)
    const due = questions.filter(
      ({ changed, look: { asked }, shown }) =>
        (changed && asked !== 'at the end') || (asked === 'always' && shown.status !== 403),
    )
    await ask(service, due, symbols, done, figures)
  }
  const questions = news(world, told)
  await ask(service, questions, symbols, done, figures)
  const lists = questions.filter(({ look, shown }) => look.asked === 'always' && shown.status === 200)
  if (lists.length > 0) await askInPages(service, nth(lists, figures.histories), symbols, done, figures)
}

const reversed = (symbols: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...symbols].map(([id, symbol]) => [symbol, id]))

interface Question {
  look: Look
  caller: string
  shown: Shown
  /** It is not what the caller was to be shown before. */
  changed: boolean
}

function news(world: World, told: Map<string, string>): Question[] {
  return looksAt(world).flatMap(look =>
    world.callers.map(caller => {
      const shown = look.shown(caller)
      const [key, text] = [`${caller.name} ${look.path}`, JSON.stringify(shown)]
      const changed = told.get(key) !== text
      told.set(key, text)
      return { look, caller: caller.name, shown, changed }
    }),
  )
}

/** A caller that is turned away at the door is so whatever the thing: one of each kind is enough. */
function withoutRepetition(questions: readonly Question[]): Question[] {
  const seen = new Set<string>()
  return questions.filter(({ look, caller, shown }) => {
    const key = `${caller} ${look.path.replace(SYMBOL, '')}`
    if (shown.status === 403 && seen.has(key)) return false
    seen.add(key)
    return true
  })
}

const SYMBOL = /[A-Z]:[^/?]+/
const AT_ONCE = 24

async function ask(
  service: Service,
  questions: readonly Question[],
  symbols: ReadonlyMap<string, string>,
  done: readonly string[],
  figures: Figures,
): Promise<void> {
  const ids = reversed(symbols)
  const one = async ({ look, caller, shown }: Question) => {
    const path = look.path.replace(SYMBOL, symbol => ids.get(symbol) ?? symbol)
    const { status, text } = await service.call(caller, 'GET', path)
    figures.requests++
    const given = summary(status, readable(text, symbols), isList(look))
    const wanted = expected(shown, isList(look))
    if (!same(given, wanted)) throw difference(done, `GET ${look.path} as ${caller}`, given, wanted, text)
  }
  const asked = withoutRepetition(questions)
  for (let from = 0; from < asked.length; from += AT_ONCE)
    await Promise.all(asked.slice(from, from + AT_ONCE).map(one))
}

/** The same list, two at a time: nothing is shown twice or left out. */
async function askInPages(
  service: Service,
  { look, caller, shown }: Question,
  symbols: ReadonlyMap<string, string>,
  done: readonly string[],
  figures: Figures,
): Promise<void> {
  const path = look.path.replace('limit=500', 'limit=2')
  const rows: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { text } = await service.call(caller, 'GET', path + cursor)
    figures.requests++
    const page = JSON.parse(text) as { data: unknown[]; next_cursor: string | null }
    rows.push(...page.data)
    cursor = page.next_cursor && `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
  const given = summary(200, readable(JSON.stringify({ data: rows }), symbols), true)
  const wanted = expected(shown, true)
  if (!same(given, wanted)) throw difference(done, `the pages of GET ${path} as ${caller}`, given, wanted, '')
}

const count = (counts: Record<string, number>, name: string) => {
  counts[name] = (counts[name] ?? 0) + 1
}

const difference = (done: readonly string[], where: string, given: unknown, wanted: unknown, text: string) =>
  new Error(
    [
      'the service and the model differ after',
      ...done.map((line, index) => `  ${index + 1}. ${line}`),
      `in ${where}`,
      `  service: ${JSON.stringify(given)}`,
      `  model:   ${JSON.stringify(wanted)}`,
      `  answer:  ${text.slice(0, 2_000)}`,
    ].join('\n'),
  )
