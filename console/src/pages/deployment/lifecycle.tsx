// The state machine, drawn from the API's own map, with the state that the deployment is in and the moves open to the caller.
import { Scroll } from '../../ui/scroll.tsx'
import { draw, type LifecycleMap, type State } from './reach.ts'
import '../../style/lifecycle.css'

interface Props {
  map: LifecycleMap
  state: State
  /** Where the caller may move it from there. */
  allowed: State[]
}

export function Lifecycle({ map, state, allowed }: Props) {
  const { width, height, boxes, arrows } = draw(map)
  const open = (arrow: { from: State; to: State }) => arrow.from === state && allowed.includes(arrow.to)
  return (
    <figure class="lifecycle">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`States of a deployment. This one is ${words(state)}${
          allowed.length > 0 ? `; you may move it to ${allowed.map(words).join(', ')}` : ''
        }.`}
      >
        {/* What is open lies on top. */}
        {arrows
          .toSorted((a, b) => Number(open(a)) - Number(open(b)))
          .map(arrow => (
            <g key={`${arrow.from} ${arrow.to}`} class={open(arrow) ? 'open' : 'move'}>
              <path d={arrow.path} />
              <path d={arrow.head} />
            </g>
          ))}
        {boxes.map(({ state: name, ...box }) => (
          <g key={name} class={name === state ? 'current' : allowed.includes(name) ? 'reachable' : 'other'}>
            <rect {...box} rx={5} />
            <text x={box.x + box.width / 2} y={box.y + box.height / 2}>
              {words(name)}
            </text>
          </g>
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <Scroll class="table-box" label="All moves">
          <table aria-label="All moves">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col">To</th>
                <th scope="col">Whose</th>
              </tr>
            </thead>
            <tbody>
              {map.states.flatMap(({ state: from, transitions }) =>
                transitions.map(({ to, operator_only, billing_action }) => (
                  <tr key={`${from} ${to}`}>
                    <th scope="row">{words(from)}</th>
                    <td>{words(to)}</td>
                    <td>
                      {operator_only ? 'operators' : 'tenants too'}
                      {billing_action && ', billing'}
                    </td>
                  </tr>
                )),
              )}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  )
}

const words = (state: string) => state.replaceAll('_', ' ')
