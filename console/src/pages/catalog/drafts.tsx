// Drafts of a plan: each compared with the active version, changed, deleted or published.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { may } from '../../session.tsx'
import { announce, Confirm, Diff, Empty, Section } from '../../ui/index.ts'
import { compared, termsOf } from './terms.ts'
import { TermsForm } from './terms-form.tsx'

type Version = Schemas['PlanVersion']

interface Props {
  code: string
  /** All that are shown, newest first. */
  versions: Version[]
  done: () => Promise<void>
}

export function NewDraft({ code, versions, done }: Props) {
  const [open, setOpen] = useState(false)
  if (!may('createPlanVersion')) return null
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        New draft
      </button>
      {open && (
        <TermsForm
          title={`New draft of ${code}`}
          terms={versions.find(({ status }) => status === 'active') ?? versions[0]}
          submit="Create the draft"
          onClose={() => setOpen(false)}
          send={async body => {
            const params = { path: { code } }
            await ok(api.POST('/api/v1/catalog/plans/{code}/versions', { params, body, headers: once() }))
            announce('The draft is created')
            await done()
          }}
        />
      )}
    </>
  )
}

export function Drafts(props: Props) {
  const drafts = props.versions.filter(({ status }) => status === 'draft')
  return drafts.map(draft => <Draft key={draft.id} {...props} draft={draft} />)
}

type Act = 'edit' | 'publish' | 'delete'

function Draft({ draft, ...props }: Props & { draft: Version }) {
  const [act, setAct] = useState<Act>()
  const active = props.versions.find(({ status }) => status === 'active')
  const acts = { draft, active, onClose: () => setAct(undefined), ...props }
  return (
    <Section
      title={`Draft ${draft.version}`}
      actions={
        <>
          {may('publishPlanVersion') && (
            <button type="button" class="primary" onClick={() => setAct('publish')}>
              Publish
            </button>
          )}
          {may('replacePlanVersion') && (
            <button type="button" onClick={() => setAct('edit')}>
              Edit
            </button>
          )}
          {may('deletePlanVersion') && (
            <button type="button" onClick={() => setAct('delete')}>
              Delete
            </button>
          )}
        </>
      }
    >
      <Against draft={draft} active={active} />
      {act === 'edit' && <Edit {...acts} />}
      {act === 'publish' && <Publish {...acts} />}
      {act === 'delete' && <Delete {...acts} />}
    </Section>
  )
}

function Against({ draft, active }: { draft: Version; active: Version | undefined }) {
  if (!active) return <Empty>There is no active version to compare it with.</Empty>
  const { changes, same } = compared(termsOf(active), termsOf(draft))
  if (Object.keys(changes).length === 0)
    return <Empty>It says the same as version {active.version}, which is active.</Empty>
  return (
    <>
      <Diff changes={changes} names={[`Active: version ${active.version}`, `Draft ${draft.version}`]} />
      {same > 0 && <p class="quiet">{same === 1 ? 'One field is' : `${same} fields are`} the same.</p>}
    </>
  )
}

interface ActProps extends Props {
  draft: Version
  active: Version | undefined
  onClose: () => void
}

const path = (code: string, { version }: Version) => ({ path: { code, version: String(version) } })

function Edit({ code, draft, done, onClose }: ActProps) {
  return (
    <TermsForm
      title={`Edit draft ${draft.version} of ${code}`}
      terms={draft}
      submit="Save the draft"
      onClose={onClose}
      send={async body => {
        const params = path(code, draft)
        await ok(api.PUT('/api/v1/catalog/plans/{code}/versions/{version}', { params, body }))
        announce('The draft is saved')
        await done()
      }}
    />
  )
}

function Publish({ code, draft, active, versions, done, onClose }: ActProps) {
  const behind = versions.reduce((sum, { subscriptions }) => sum + subscriptions, 0)
  return (
    <Confirm
      title={`Publish version ${draft.version} of ${code}`}
      act="Publish"
      onClose={onClose}
      run={async () => {
        const params = path(code, draft)
        await ok(
          api.POST('/api/v1/catalog/plans/{code}/versions/{version}/publish', { params, headers: once() }),
        )
        announce(`Version ${draft.version} is active`)
        await done()
      }}
    >
      <p>
        New subscriptions get version {draft.version} from now on.
        {active && ` Version ${active.version} retires.`} It cannot be edited or taken back.
      </p>
      <p>
        <strong>
          {behind === 0
            ? 'No subscription stays behind.'
            : behind === 1
              ? 'One subscription stays on the version it has.'
              : `${behind} subscriptions stay on the versions they have.`}
        </strong>
      </p>
    </Confirm>
  )
}

function Delete({ code, draft, done, onClose }: ActProps) {
  return (
    <Confirm
      title={`Delete draft ${draft.version} of ${code}`}
      name={`${code} ${draft.version}`}
      act="Delete"
      onClose={onClose}
      run={async () => {
        const params = path(code, draft)
        await ok(api.DELETE('/api/v1/catalog/plans/{code}/versions/{version}', { params }))
        announce('The draft is deleted')
        await done()
      }}
    >
      <p>What it says is lost, and its number is not given again.</p>
    </Confirm>
  )
}
