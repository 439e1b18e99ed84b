// Random histories, each held against the model: after every step the answers to every caller.
//
// What the model says has changed for a caller is asked for after the step that changed it, and so are all lists. The rest
// is asked for after the last step, when everything is. A history is as likely to end at one step as at another.
import fc from 'fast-check'
import type { Engine } from '../../../src/kernel/db/engine.ts'
import { type Command, history, inWords } from './commands.ts'
import { expected, readable, same, summary } from './compare.ts'
import { perform } from './perform.ts'
import { openService, type Service } from './service.ts'
import { type Look, looksAt, type Shown } from './shown.ts'
import { makesSense, nth, step } from './step.ts'
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
    await fc.assert(property, { seed, numRuns: histories, endOnFailure: false })
    return figures
  } finally {
    await service.close()
  }
}

async function live(service: Service, commands: readonly Command[], figures: Figures): Promise<void> {
  await service.reset()
  const world = firstWorld()
  const told = new Map<string, string>()
  const done: string[] = []
  let symbols = await service.symbols()
  const sensible = commands.length
  for (const [index, command] of commands.entries()) {
    const last = index === sensible - 1
    if (makesSense(world, command)) {
      done.push(inWords(command) + ('by' in command ? `, as ${nth(world.callers, command.by).name}` : ''))
      const ids = new Map([...symbols].map(([id, symbol]) => [symbol, id]))
      const reply = await perform(service, world, command, ids)
      const answer = step(world, command)
      count(figures.commands, command.do)
      figures.steps++
      if (answer) {
        const body = reply!.text === '' ? null : JSON.parse(reply!.text)
        const given = { status: reply!.status, ...(reply!.status >= 400 && { code: body.code }) }
        count(figures.answers, `${command.do} ${answer.status} ${answer.code ?? ''}`.trim())
        if (!same(given, answer)) throw difference(done, 'its answer', given, answer, reply!.text)
      }
      symbols = await service.symbols()
      await observe(service, world, { symbols, told, everything: last, done, figures })
    } else if (last) await observe(service, world, { symbols, told, everything: true, done, figures })
  }
}

interface Observation {
  symbols: Map<string, string>
  /** What each caller was last to be shown. */
  told: Map<string, string>
  everything: boolean
  done: readonly string[]
  figures: Figures
}

const AT_ONCE = 24

async function observe(service: Service, world: World, observation: Observation): Promise<void> {
  const { symbols, told, everything, done, figures } = observation
  const ids = new Map([...symbols].map(([id, symbol]) => [symbol, id]))
  const questions: { look: Look; caller: string; shown: Shown }[] = []
  for (const look of looksAt(world))
    for (const caller of world.callers) {
      const shown = look.shown(caller)
      const key = `${caller.name} ${look.path}`
      const text = JSON.stringify(shown)
      const news = told.get(key) !== text
      told.set(key, text)
      if (everything || news || !/\/[A-Z]:/.test(look.path))
        questions.push({ look, caller: caller.name, shown })
    }
  const ask = async ({ look, caller, shown }: (typeof questions)[number]) => {
    const path = look.path.replace(/[A-Z]:[^/?]+/, symbol => ids.get(symbol) ?? symbol)
    const { status, text } = await service.call(caller, 'GET', path)
    figures.requests++
    const given = summary(status, readable(text, symbols), look.list)
    const wanted = expected(shown, look.list)
    if (!same(given, wanted)) throw difference(done, `GET ${look.path} as ${caller}`, given, wanted, text)
  }
  for (let from = 0; from < questions.length; from += AT_ONCE)
    await Promise.all(questions.slice(from, from + AT_ONCE).map(ask))
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
