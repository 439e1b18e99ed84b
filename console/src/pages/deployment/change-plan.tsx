// Another plan or version for a deployment: shown first, then made.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useAct, useQuery } from '../../query.ts'
import { may, session } from '../../session.tsx'
import { announce, Dialog, Facts, Field, Form, moneyOfMinor, ProblemBanner, Shown } from '../../ui/index.ts'

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
      {open && <ChangeDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

const change = (id: string, target: Target, preview: boolean) =>
  ok(
    api.POST('/api/v1/deployments/{id}/change-plan-version', {
      params: { path: { id } },
      body: { ...target, preview },
      ...(!preview && { headers: once() }),
    }),
  )

function ChangeDialog({ deployment, subscription, done, onClose }: Props & { onClose: () => void }) {
  const { id, display_name } = deployment
  const [shown, setShown] = useState<{ target: Target; change: Schemas['PlanChange'] }>()
  const choices = useQuery(signal => choicesFor(subscription, signal), [])
  const make = useAct(async (target: Target) => {
    await change(id, target, false)
    announce(`The plan of ${display_name} is changed`)
    await done()
    onClose()
  })
  return (
    <Dialog title={`Change the plan of ${display_name}`} onClose={onClose}>
      {shown ? (
        <>
          <Change {...shown.change} />
          {make.problem && <ProblemBanner problem={make.problem} />}
          <footer>
            <button type="button" onClick={() => setShown(undefined)}>
              Back
            </button>
            <button type="button" class="primary" disabled={make.busy} onClick={() => make.run(shown.target)}>
              Change to {shown.change.to.plan_code}
            </button>
          </footer>
        </>
      ) : (
        <Shown query={choices}>
          {options => (
            <Form
              submit="Preview"
              cancel={onClose}
              send={async ({ to = '' }) => {
                const [kind, value = ''] = to.split(':')
                const target = kind === 'plan' ? { plan_code: value } : { plan_version_id: value }
                setShown({ target, change: (await change(id, target, true)).data })
              }}
            >
              <Field label="To" name="to" required options={options} />
            </Form>
          )}
        </Shown>
      )}
    </Dialog>
  )
}

function Change({ from, to, currency, difference_cents: difference }: Schemas['PlanChange']) {
  const price = (cents: number) => moneyOfMinor(cents, currency)
  return (
    <Facts
      facts={[
        ['Now', `${from.plan_code}, ${price(from.base_price_cents)} a month`],
        ['Then', `${to.plan_code}, ${price(to.base_price_cents)} a month`],
        ['Difference a month', `${difference > 0 ? '+' : ''}${price(difference)}`],
        ['Addons', 'stay as they are'],
      ]}
    />
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
