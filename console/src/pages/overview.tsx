// What needs somebody's attention, how fresh the mirror is, and what it costs. What is red leads to where it is mended.
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { Page, Shown } from '../ui/index.ts'
import { Balance } from './overview/balance.tsx'
import { Costs } from './overview/costs.tsx'
import { Figures } from './overview/figures.tsx'
import { Mirror } from './overview/mirror.tsx'

export default function Overview() {
  const overview = useQuery(signal => ok(api.GET('/api/v1/overview', { signal })), [], { every: 15_000 })
  return (
    <Page title="Overview" operation="getOverview">
      <Shown query={overview}>
        {({ data }) => (
          <>
            <Figures overview={data} />
            <div class="columns">
              <Balance />
              <Costs />
            </div>
            {data.mirror && <Mirror kinds={data.mirror} reload={overview.reload} />}
          </>
        )}
      </Shown>
    </Page>
  )
}
