// Whether anybody has touched the audit log: the chain verified now, and the signed checkpoints of it.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { Badge, Copy, Facts, Field, Form, Page, Section, Table, Time } from '../../ui/index.ts'

type Verification = Schemas['AuditLogVerification']

export default function Checkpoints() {
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/audit_log/checkpoints', { params: { query: { cursor } }, signal })),
    [],
    { every: 60_000 },
  )
  const [result, setResult] = useState<Verification>()
  return (
    <Page title="Checkpoints of the audit log" operation="verifyAuditLog">
      <Form
        submit="Verify the log"
        send={async ({ head }) => {
          const query = head ? { head } : {}
          setResult((await ok(api.GET('/api/v1/admin/audit_log/verify', { params: { query } }))).data)
          await list.reload()
        }}
      >
        <Field
          label="A head that was noted earlier"
          name="head"
          pattern="[1-9][0-9]*:[0-9a-f]{64}"
          help="Place and hash, as 17:9f2c…; left empty, the chain is compared with its checkpoints alone."
        />
      </Form>
      <div role="status">{result && <Result result={result} />}</div>
      <Section title="Checkpoints">
        <Table
          label="Checkpoints, newest first"
          list={list}
          id={({ number }) => String(number)}
          empty="There is none yet: the first is signed when the log is first verified or published."
          columns={[
            { name: 'Number', number: true, cell: ({ number }) => number },
            { name: 'When', cell: ({ at }) => <Time at={at} seconds /> },
            { name: 'Entries', number: true, cell: ({ entries }) => entries },
            { name: 'Hash', cell: ({ hash }) => <code title={hash}>{hash.slice(0, 16)}…</code> },
            { name: 'Key', cell: ({ key_id }) => <code>{key_id}</code> },
            {
              name: 'Signature',
              cell: ({ signature }) => <code title={signature}>{signature.slice(0, 16)}…</code>,
            },
          ]}
        />
      </Section>
    </Page>
  )
}

function Result({ result }: { result: Verification }) {
  const { intact, entries, unkeyed, head, checkpoints, published, broken_at, reason } = result
  const noted = head && `${head.seq}:${head.hash}`
  return (
    <Section title="Result" actions={noted && <Copy text={noted}>Copy the head</Copy>}>
      <Facts
        facts={[
          [
            'The log is',
            <Badge key="intact" tone={intact ? 'good' : 'bad'}>
              {intact ? 'intact' : 'broken'}
            </Badge>,
          ],
          ...(intact
            ? []
            : ([
                ['First broken link', broken_at === null ? null : String(broken_at)],
                ['Why', reason],
              ] as [string, string | null][])),
          ['Entries as they were written', String(entries)],
          ['Of them from before the chain had a key', String(unkeyed)],
          ['Checkpoints that stand', String(checkpoints)],
          [
            'Compared with',
            published ? publishedIn(published) : 'nothing outside: no storage backend is active',
          ],
          ['Head, to be noted elsewhere', noted && <code key="head">{noted}</code>],
        ]}
      />
    </Section>
  )
}

const publishedIn = ({ backend, checkpoint, error }: NonNullable<Verification['published']>) =>
  error
    ? `${backend}, which could not be asked: ${error}`
    : checkpoint === null
      ? `${backend}, where there is no checkpoint yet`
      : `${backend}, up to checkpoint ${checkpoint}`
