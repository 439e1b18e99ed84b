// The moves open to the caller, each with what it means and a reason.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { may } from '../../session.tsx'
import { announce, Confirm, Empty, Field } from '../../ui/index.ts'
import { type LifecycleMap, leadsTo, type State } from './reach.ts'

interface Props {
  map: LifecycleMap
  deployment: Schemas['DeploymentDetail']
  done: () => Promise<void>
}

export function Moves({ map, deployment, done }: Props) {
  const { allowed_transitions: allowed, state, subscription } = deployment
  const [target, setTarget] = useState<State>()
  if (!may('transitionDeployment')) return null
  if (allowed.length === 0) return <Empty>There is no move from here for you.</Empty>
  const consequence = (to: State) => {
    const status = map.states.find(found => found.state === to)?.subscription_status
    const of = subscription && status && status !== subscription.status
    return [
      of ? `The subscription becomes ${status}.` : '',
      leadsTo(map, to, state) ? '' : 'There is no way back.',
    ]
      .filter(Boolean)
      .join(' ')
  }
  return (
    <>
      <ul class="moves" aria-label="Moves">
        {allowed.map(to => (
          <li key={to}>
            <button type="button" onClick={() => setTarget(to)}>
              Move to {words(to)}
            </button>
            <p class="quiet">{consequence(to)}</p>
          </li>
        ))}
      </ul>
      {target && (
        <Move
          deployment={deployment}
          to={target}
          final={!leadsTo(map, target, state)}
          consequence={consequence(target)}
          done={done}
          onClose={() => setTarget(undefined)}
        />
      )}
    </>
  )
}

interface MoveProps {
  deployment: Schemas['DeploymentDetail']
  to: State
  /** It cannot be taken back: the deployment's name is to be typed. */
  final: boolean
  consequence: string
  done: () => Promise<void>
  onClose: () => void
}

function Move({ deployment, to, final, consequence, done, onClose }: MoveProps) {
  const { id, slug, display_name, state } = deployment
  return (
    <Confirm
      title={`Move ${display_name} to ${words(to)}`}
      act={`Move to ${words(to)}`}
      {...(final && { name: slug })}
      onClose={onClose}
      run={async ({ reason }) => {
        const body = { state: to, ...(reason && { reason }) }
        await ok(
          api.POST('/api/v1/deployments/{id}/transition', {
            params: { path: { id } },
            body,
            headers: once(),
          }),
        )
        announce(`${display_name} is ${words(to)}`)
        await done()
      }}
    >
      <p>
        It is {words(state)} now. {consequence}
      </p>
      <Field label="Reason" name="reason" type="textarea" maxLength={1000} help="Kept with the event." />
    </Confirm>
  )
}

const words = (state: string) => state.replaceAll('_', ' ')
