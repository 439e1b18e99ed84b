// What stands where nothing can be shown yet.
import type { ComponentChildren } from 'preact'
import type { Query } from '../query.ts'
import { ProblemBanner } from './problem.tsx'

/** Nothing there: why, and where it would come from. */
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

/** Seen only when an answer takes longer than a moment. */
export const Loading = ({ what = 'Loading' }: { what?: string }) => (
  <p class="loading" role="status">
    {what}…
  </p>
)

/** A query's three states: `<Shown query={plan}>{plan => …}</Shown>`. */
export function Shown<T>({
  query,
  children,
}: {
  query: Pick<Query<T>, 'data' | 'problem' | 'loading' | 'reload'>
  children: (data: T) => ComponentChildren
}) {
  const { data, problem, loading, reload } = query
  return (
    <>
      {problem && <ProblemBanner problem={problem} retry={reload} />}
      {loading && <Loading />}
      {data !== undefined && children(data)}
    </>
  )
}
