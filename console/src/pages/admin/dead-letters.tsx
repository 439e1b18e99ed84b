// Jobs that failed at their last attempt: why, with what, and once more.
import { useState } from 'preact/hooks'
import { api, ok, type Problem, type Schemas } from '../../api.ts'
import { useAct, useList } from '../../query.ts'
import { may } from '../../session.tsx'
import { ActButton, announce, Dialog, Facts, Json, Missing, Page, Table, Time } from '../../ui/index.ts'

type DeadLetter = Schemas['DeadLetter']

const retry = (id: string) =>
  ok(api.POST('/api/v1/admin/dead_letters/{id}/retry', { params: { path: { id } } }))

export default function DeadLetters() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/admin/dead_letters', { params: { query: { cursor } }, signal })),
    [],
    { every: 15_000 },
  )
  const [shown, setShown] = useState<DeadLetter>()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const here = list.rows.filter(({ id }) => selected.has(id))
  const retryAll = useAct(async () => {
    try {
      for (const { id } of here) await retry(id)
      announce(`${here.length} are queued again`)
    } catch (problem) {
      announce(problem as Problem)
    }
    setSelected(new Set())
    await list.reload()
  })
  const acts = may('retryDeadLetter')
  return (
    <Page
      title="Dead letters"
      operation="listDeadLetters"
      actions={
        here.length > 0 && (
          <button type="button" disabled={retryAll.busy} onClick={() => retryAll.run()}>
            Retry {here.length} selected
          </button>
        )
      }
    >
      <Table
        label="Dead letters"
        list={list}
        id={({ id }) => id}
        empty="No job has given up. Those that fail at their last attempt are kept here until they are retried."
        {...(acts && { selected, onSelect: setSelected })}
        columns={[
          { name: 'Failed', cell: ({ failed_at }) => <Time at={failed_at} /> },
          { name: 'Job', cell: ({ job }) => job ?? <Missing /> },
          { name: 'Queue', cell: ({ queue }) => queue ?? <Missing /> },
          { name: 'Attempts', number: true, cell: ({ attempts }) => attempts },
          { name: 'Error', cell: ({ error }) => error ?? <Missing /> },
          {
            name: 'Actions',
            cell: letter => (
              <span class="acts">
                <button
                  type="button"
                  class="plain"
                  aria-label={`Show ${letter.job}`}
                  onClick={() => setShown(letter)}
                >
                  Show
                </button>
                <Retry letter={letter} done={list.reload} class="plain" />
              </span>
            ),
          },
        ]}
      />
      {shown && (
        <Letter
          letter={shown}
          onClose={() => setShown(undefined)}
          done={async () => {
            setShown(undefined)
            await list.reload()
          }}
        />
      )}
    </Page>
  )
}

const Retry = ({
  letter: { id, job },
  done,
  ...rest
}: {
  letter: DeadLetter
  done: () => Promise<void>
  class?: string
}) => (
  <ActButton
    operation="retryDeadLetter"
    label={`Retry ${job}`}
    done={`${job} is queued again`}
    run={async () => {
      await retry(id)
      await done()
    }}
    {...rest}
  >
    Retry
  </ActButton>
)

const Letter = ({
  letter,
  onClose,
  done,
}: {
  letter: DeadLetter
  onClose: () => void
  done: () => Promise<void>
}) => (
  <Dialog title={letter.job ?? 'Dead letter'} onClose={onClose}>
    <p class="bad words">{letter.error ?? 'It left no error.'}</p>
    <Facts
      facts={[
        ['Queue', letter.queue],
        ['Attempts', String(letter.attempts)],
        ['Sent', <Time key="sent" at={letter.sent_at} seconds />],
        ['Failed', <Time key="failed" at={letter.failed_at} seconds />],
      ]}
    />
    <Json label="Payload" value={letter.payload} />
    <footer>
      <Retry letter={letter} done={done} />
    </footer>
  </Dialog>
)
