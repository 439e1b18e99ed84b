// The versions of a plan side by side, field by field; what differs from the version before it is marked.
import type { Schemas } from '../../api.ts'
import { Badge, Missing, Time } from '../../ui/index.ts'
import { Scroll } from '../../ui/scroll.tsx'
import { fieldsOf, termsOf } from './terms.ts'
import '../../style/catalog.css'

type Version = Schemas['PlanVersion']

/** Newest first, as the API lists them. */
export function Versions({ versions }: { versions: Version[] }) {
  const terms = versions.map(termsOf)
  const row = (name: string, cell: (version: Version) => preact.ComponentChildren) => (
    <tr>
      <th scope="row">{name}</th>
      {versions.map(version => (
        <td key={version.id}>{cell(version)}</td>
      ))}
    </tr>
  )
  return (
    <Scroll class="table-box versions" label="Versions side by side">
      <table aria-label="Versions side by side">
        <thead>
          <tr>
            <th scope="col">Field</th>
            {versions.map(({ id, version }) => (
              <th key={id} scope="col">
                Version {version}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row('Status', ({ status }) => (
            <Badge>{status}</Badge>
          ))}
          {row('Subscriptions', ({ subscriptions }) => subscriptions)}
          {row('Published', ({ published_at }) => (
            <Time at={published_at} />
          ))}
          {row('Retired', ({ retired_at }) => (
            <Time at={retired_at} />
          ))}
          {fieldsOf(terms).map(field => (
            <tr key={field}>
              <th scope="row">{field}</th>
              {versions.map(({ id }, i) => {
                const [value, before] = [terms[i]!.get(field), terms[i + 1]]
                const differs = before !== undefined && before.get(field) !== value
                return (
                  <td key={id} class={differs ? 'differs' : undefined}>
                    {value ?? <Missing />}
                    {differs && <span class="unseen"> (other than in the version before)</span>}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
