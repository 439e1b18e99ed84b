// /api/v1/admin/dead_letters: jobs that failed for good, and the way back for them.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Id, NoBody } from '../../kernel/http/schemas.ts'
import { DeadLetter, listDeadLetters } from './store.ts'

const base = '/api/v1/admin/dead_letters'

export const deadLetterRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Administration', guard: 'operator' }, route => {
    route.list(
      base,
      {
        id: 'listDeadLetters',
        summary: 'List dead letters',
        description:
          'Jobs that failed at their last attempt, newest first. They stay until they are retried.',
        items: DeadLetter,
        cursor: cursorOf('dead_letters', ['time', 'uuid']),
        key: (row: { id: string; failed_at: string }) => [row.failed_at, row.id],
      },
      ({ limit, after }) => listDeadLetters(deps.db, limit, after),
    )

    route.post(
      `${base}/:id/retry`,
      {
        id: 'retryDeadLetter',
        summary: 'Retry a dead letter',
        description: 'Puts the job back into the queue it came from, with all its attempts before it.',
        params: Type.Object({ id: Id }),
        body: NoBody,
        done: 'It is queued again.',
      },
      ({ deps: { db, jobs }, params: { id } }) =>
        transaction(db, async tx => {
          if (!(await jobs.retryDeadLetter(tx, id))) throw notFound()
          await recordRequest(tx, { subjectType: 'dead_letters', subjectId: id })
        }),
    )
  })
