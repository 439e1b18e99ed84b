// A worker process with a workflow of the test's own: three steps that write down in JOURNAL what they do, the second of
// which never ends while HOLD is set. Asked over IPC to start a run, or to show one.
import { appendFileSync } from 'node:fs'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { requestSaga, type Step, showRun } from '../../src/features/sagas/index.ts'
import { startWorker } from '../../src/worker.ts'
import { kindOf } from './sagas.ts'

export type Question = { start: string } | { show: string }

const note = (line: string) => appendFileSync(process.env.JOURNAL!, `${line}\n`)
const noted = (name: string): Step => ({
  name,
  async execute() {
    note(`execute ${name}`)
    // It never ends by itself.
    if (name === 'b' && process.env.HOLD) await new Promise(() => {})
    return { ok: true, context: { [name]: true } }
  },
  async compensate({ context }) {
    note(`compensate ${name} knowing ${Object.keys(context).join(' ')}`)
    return { ok: true }
  },
})
const kind = kindOf('noted', ['a', 'b', 'c'].map(noted))

const { config } = readConfig({ ...process.env })
const ctx = await createContext({ config, worker: true, sagaKinds: () => [kind] })
await startWorker(ctx)

process.on('message', async (question: Question) => {
  const json =
    'start' in question
      ? (await requestSaga(ctx, kind, { key: question.start }, 'test')).json
      : await showRun(ctx.db, { allTenants: true }, question.show)
  process.send!(JSON.parse(json!))
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')
