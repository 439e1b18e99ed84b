// Deployments by the names people know: what else refers to them has their ids alone.
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { may } from '../session.tsx'

/** One page of them: whichever is not in it is called by its id. */
const MOST = 500

export function useDeploymentNames(): (id: string) => string {
  const names = useQuery(
    async signal => {
      const query = { limit: MOST }
      const { data } = await ok(api.GET('/api/v1/deployments', { params: { query }, signal }))
      return new Map(data.map(({ id, slug }) => [id, slug]))
    },
    [],
    { when: may('listDeployments') },
  )
  return id => names.data?.get(id) ?? id
}
