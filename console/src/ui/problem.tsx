import type { Problem } from '../api.ts'

/** A refused or failed call: what, why, and the id by which the log knows it. */
export function ProblemBanner({ problem, retry }: { problem: Problem; retry?: () => void }) {
  const { title, detail, requestId, errors } = problem
  return (
    <div class="problem" role="alert">
      <strong>{title}</strong>
      {detail && <p>{detail}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map(({ pointer, message }) => (
            <li key={pointer + message}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId && (
        <p class="quiet">
          Request <code>{requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}
