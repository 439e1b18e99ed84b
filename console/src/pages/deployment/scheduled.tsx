// What is to change of a subscription and when; what has not begun can be called off.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api.ts'
import { may } from '../../session.tsx'
import { announce, Confirm, moneyOfMinor, Table } from '../../ui/index.ts'
import { utc } from '../statement-lines.tsx'
import { removeAddon } from './addons.tsx'
import { changePlan } from './change-plan.tsx'

interface Props {
  deployment: Schemas['DeploymentDetail']
  subscription: Schemas['Subscription']
  done: () => Promise<void>
}

interface Scheduled {
  key: string
  at: string
  what: string
  /** Undefined: it cannot be called off here. */
  callOff?: { question: string; run: () => Promise<unknown> }
}

export function ScheduledChanges(props: Props) {
  const [asked, setAsked] = useState<Scheduled>()
  const rows = scheduledIn(props)
  if (rows.length === 0) return null
  return (
    <>
      <h3>Scheduled</h3>
      <Table
        label="Scheduled changes"
        list={{ rows }}
        id={({ key }) => key}
        empty=""
        columns={[
          { name: 'From (UTC)', cell: ({ at }) => utc(at) },
          { name: 'What', wraps: true, cell: ({ what }) => what },
          rows.some(({ callOff }) => callOff) && {
            name: 'Call off',
            cell: row =>
              row.callOff && (
                <button
                  type="button"
                  class="plain"
                  aria-label={`Call off: ${row.what}`}
                  onClick={() => setAsked(row)}
                >
                  Call off
                </button>
              ),
          },
        ]}
      />
      {asked?.callOff && (
        <Confirm
          title="Call off a scheduled change"
          act="Call off"
          onClose={() => setAsked(undefined)}
          run={async () => {
            await asked.callOff!.run()
            announce('Called off')
            await props.done()
          }}
        >
          <p>{asked.callOff.question}</p>
        </Confirm>
      )}
    </>
  )
}

function scheduledIn({ deployment: { id }, subscription }: Props): Scheduled[] {
  const { plan, plan_version, scheduled_versions, scheduled_addons, addons, status } = subscription
  const living = status !== 'cancelled'
  const versions = scheduled_versions.map(version => ({
    key: `version ${version.effective_from}`,
    at: version.effective_from,
    what: `Plan ${version.plan_code}, ${moneyOfMinor(version.base_price_cents, plan_version.currency)} a month`,
    // A subscription that has not begun has nothing to stay on.
    ...(living &&
      version.plan_version_id !== plan_version.id &&
      may('changePlanVersion') && {
        callOff: {
          question: `It stays on ${plan.name}, version ${plan_version.version}. Every plan change that is scheduled is called off.`,
          run: () => changePlan(id, { plan_version_id: plan_version.id }, false),
        },
      }),
  }))
  const begins = scheduled_addons.map(addon => ({
    key: `addon ${addon.id}`,
    at: addon.valid_from,
    what: `Addon ${addon.code} × ${addon.quantity}, each ${moneyOfMinor(addon.price_cents, addon.currency)} a month`,
    ...(living &&
      may('removeAddon') && {
        callOff: {
          question: `The addon ${addon.code} will not begin.`,
          run: () => removeAddon(id, addon, {}, false),
        },
      }),
  }))
  const ends = [...addons, ...scheduled_addons].flatMap(addon =>
    addon.valid_to ? [{ key: `end ${addon.id}`, at: addon.valid_to, what: `Addon ${addon.code} ends` }] : [],
  )
  return [...versions, ...begins, ...ends].sort((a, b) => (a.at < b.at ? -1 : 1))
}
