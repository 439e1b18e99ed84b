// A process that does what it is asked and answers, so that what is measured shares neither a heap nor a compiler with
// the bench or with its peer. The bench's side starts it, asks, and ends it; `working` is the worker's side.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { withLongStatements } from '../src/kernel/db/connection.ts'

export interface WorkerProcess<Question, Answer> {
  ask(question: Question): Promise<Answer>
  stop(): Promise<void>
}

/** `file` is of bench/workers. What it writes to standard output is thrown away, logs with it. */
export function startWorker<Question extends object, Answer>(
  file: string,
  env: Record<string, string>,
): WorkerProcess<Question, Answer> {
  const child = fork(join(import.meta.dirname, 'workers', file), [], {
    // As bin/cloudops.js starts the service.
    execArgv: ['--max-semi-space-size=16'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`bench/workers/${file} ended with ${code}`)
  })
  died.catch(() => {})
  return {
    async ask(question) {
      const answered = once(child, 'message')
      child.send(question)
      return (await Promise.race([answered, died]))[0] as Answer
    },
    async stop() {
      child.disconnect()
      await died.catch(() => {})
    },
  }
}

/** Called by a worker once it can answer. One question at a time; a failed one ends the process. */
export function working<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  process.on('message', async question => {
    // As in a job of a queue whose statements may take long.
    process.send?.((await withLongStatements(() => answer(question as Question))) as object)
  })
  process.on('disconnect', () => process.exit(0))
  // The bench may have gone while this was starting.
  if (!process.connected) process.exit(0)
}
