// What a deployment is subscribed to: subscribing it, and showing what is agreed.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { may, mayOperate } from '../../session.tsx'
import {
  announce,
  Badge,
  Dialog,
  Empty,
  Facts,
  Field,
  Form,
  instantOf,
  moneyOfMinor,
  Section,
  Shown,
  Time,
  type Values,
} from '../../ui/index.ts'
import { AddAddon, Addons } from './addons.tsx'
import { ChangePlan } from './change-plan.tsx'
import { ScheduledChanges } from './scheduled.tsx'

interface Props {
  deployment: Schemas['DeploymentDetail']
  done: () => Promise<void>
}

const OVER = ['cancelled', 'archived']

export function Subscription({ deployment, done }: Props) {
  const { subscription, state } = deployment
  const current = subscription && subscription.status !== 'cancelled' ? subscription : null
  return (
    <Section
      title="Subscription"
      actions={
        current ? (
          <>
            <ChangePlan deployment={deployment} subscription={current} done={done} />
            <AddAddon deployment={deployment} subscription={current} done={done} />
          </>
        ) : (
          !OVER.includes(state) && <Subscribe deployment={deployment} done={done} />
        )
      }
    >
      {subscription ? (
        <Agreed deployment={deployment} subscription={subscription} done={done} />
      ) : (
        <Empty>It is subscribed to no plan.</Empty>
      )}
    </Section>
  )
}

function Agreed({ deployment, subscription, done }: Props & { subscription: Schemas['Subscription'] }) {
  const { plan, plan_version: version, status, ...terms } = subscription
  return (
    <>
      <Facts
        facts={[
          ['Plan', <Link href={to`/catalog/${plan.code}`}>{plan.name}</Link>],
          ['Version', `${version.version}${version.status === 'active' ? '' : ` (${version.status})`}`],
          ['Status', <Badge>{status}</Badge>],
          ['Base price a month', moneyOfMinor(version.base_price_cents, version.currency)],
          [
            'Current period',
            <>
              <Time at={terms.current_period_start} /> to <Time at={terms.current_period_end} />
            </>,
          ],
          ['Trial ends', <Time at={terms.trial_ends_at} />],
        ]}
      />
      <Addons deployment={deployment} subscription={subscription} done={done} />
      <ScheduledChanges deployment={deployment} subscription={subscription} done={done} />
    </>
  )
}

function Subscribe({ deployment, done }: Props) {
  const [open, setOpen] = useState(false)
  if (!may('subscribeDeployment') || !may('listPlans')) return null
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        Subscribe
      </button>
      {open && <SubscribeDialog deployment={deployment} done={done} onClose={() => setOpen(false)} />}
    </>
  )
}

function SubscribeDialog({ deployment, done, onClose }: Props & { onClose: () => void }) {
  const { id, display_name } = deployment
  const query = { limit: 500 }
  const offers = useQuery(async signal => {
    const [plans, addons] = await Promise.all([
      ok(api.GET('/api/v1/catalog/plans', { params: { query }, signal })),
      ok(api.GET('/api/v1/catalog/addons', { params: { query }, signal })),
    ])
    return { plans: plans.data.filter(plan => plan.active_version), addons: addons.data }
  }, [])
  const send = async ({ plan_code = '', trial_ends_at: trial, ...rest }: Values) => {
    const addons = Object.entries(rest).flatMap(([name, quantity]) =>
      Number(quantity) > 0 ? [{ code: name.slice('addon:'.length), quantity: Number(quantity) }] : [],
    )
    const ends = instantOf(trial)
    const body = { plan_code, addons, ...(ends && { trial_ends_at: ends }) }
    await ok(
      api.POST('/api/v1/deployments/{id}/subscribe', { params: { path: { id } }, body, headers: once() }),
    )
    announce(`${display_name} is subscribed`)
    await done()
  }
  return (
    <Dialog title={`Subscribe ${display_name}`} onClose={onClose}>
      <Shown query={offers}>
        {({ plans, addons }) =>
          plans.length === 0 ? (
            <Empty>No plan has been published yet.</Empty>
          ) : (
            <Form submit="Subscribe" send={send} done={onClose} cancel={onClose}>
              <Field
                label="Plan"
                name="plan_code"
                required
                options={plans.map(({ code, name, active_version }) => ({
                  value: code,
                  text: `${name}: ${moneyOfMinor(active_version!.base_price_cents, active_version!.currency)} a month`,
                }))}
              />
              {addons.map(({ code, name, price_cents, currency }) => (
                <Field
                  key={code}
                  label={`Addon: ${name}`}
                  name={`addon:${code}`}
                  type="number"
                  min={0}
                  max={10_000}
                  help={`How many, each ${moneyOfMinor(price_cents, currency)} a month.`}
                />
              ))}
              {mayOperate() && <Field label="Trial ends" name="trial_ends_at" type="datetime-local" />}
            </Form>
          )
        }
      </Shown>
    </Dialog>
  )
}
