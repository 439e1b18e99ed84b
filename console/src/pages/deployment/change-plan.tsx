// Another plan or version for a deployment: shown first, then made, now or later.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { may, session } from '../../session.tsx'
import { Dialog, Empty, Field, Shown, type Values } from '../../ui/index.ts'
import { utc } from '../statement-lines.tsx'
import { ChangeDialog, type Effective } from './change-dialog.tsx'

interface Props {
  deployment: Schemas['DeploymentDetail']
  subscription: Schemas['Subscription']
  done: () => Promise<void>
}

/** The active version of a plan; a platform_admin may take any. */
type Target = { plan_code: string } | { plan_version_id: string }

export function ChangePlan(props: Props) {
  const [open, setOpen] = useState(false)
  if (!may('changePlanVersion') || !may('listPlans')) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Change plan
      </button>
      {open && <ChangePlanDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

export const changePlan = (id: string, body: Target & Effective, preview: boolean) =>
  ok(
    api.POST('/api/v1/deployments/{id}/change-plan-version', {
      params: { path: { id } },
      body: { ...body, preview },
      ...(!preview && { headers: once() }),
    }),
  )

const targetOf = ({ to = '' }: Values): Target => {
  const [kind, value = ''] = to.split(':')
  return kind === 'plan' ? { plan_code: value } : { plan_version_id: value }
}

function ChangePlanDialog({ deployment, subscription, done, onClose }: Props & { onClose: () => void }) {
  const { id, display_name } = deployment
  const title = `Change the plan of ${display_name}`
  const choices = useQuery(signal => choicesFor(subscription, signal), [])
  if (!choices.data)
    return (
      <Dialog title={title} onClose={onClose}>
        <Shown query={choices}>{() => null}</Shown>
      </Dialog>
    )
  const options = choices.data
  return (
    <ChangeDialog
      title={title}
      act="Change the plan"
      done={`The plan of ${display_name} is changed`}
      onClose={onClose}
      preview={async (values, effective) =>
        (await changePlan(id, { ...targetOf(values), ...effective }, true)).data.month!
      }
      make={async (values, effective) => {
        await changePlan(id, { ...targetOf(values), ...effective }, false)
        await done()
      }}
      also={({ effective_from: at }) => <CalledOff {...subscription} at={at} />}
    >
      {typed =>
        options.length === 0 ? (
          <Empty>No other version is sold.</Empty>
        ) : (
          <Field label="To" name="to" required options={options} value={typed.to} />
        )
      }
    </ChangeDialog>
  )
}

/** A change calls off what was scheduled for its time or later. */
function CalledOff({ scheduled_versions, at }: Schemas['Subscription'] & { at: string }) {
  const off = scheduled_versions.filter(({ effective_from }) => effective_from >= at)
  return (
    <p class="quiet">
      Addons stay as they are.
      {off.length > 0 &&
        ` Called off: ${off.map(({ plan_code, effective_from }) => `${plan_code} from ${utc(effective_from)}`).join(', ')}.`}
    </p>
  )
}

/** The active versions of all plans; for a platform_admin the other versions of its own plan too. */
async function choicesFor(
  { plan_code: own, plan_version_id: current }: Schemas['Subscription'],
  signal: AbortSignal,
) {
  const query = { limit: 500 }
  const { data: plans } = await ok(api.GET('/api/v1/catalog/plans', { params: { query }, signal }))
  const active = plans.flatMap(({ code, name, active_version: version }) =>
    version && version.id !== current
      ? [{ value: `plan:${code}`, text: `${name}, version ${version.version} (active)` }]
      : [],
  )
  if (session.value?.kind !== 'platform_admin') return active
  const { data: versions } = await ok(
    api.GET('/api/v1/catalog/plans/{code}/versions', { params: { path: { code: own }, query }, signal }),
  )
  const others = versions
    .filter(({ id, status }) => status === 'retired' && id !== current)
    .map(({ id, version }) => ({ value: `version:${id}`, text: `${own}, version ${version} (retired)` }))
  return [...active, ...others]
}
