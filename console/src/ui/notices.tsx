// What an act came to, said once at the foot of the page and to screen readers.
import { signal } from '@preact/signals'
import type { Problem } from '../api.ts'
import { ProblemBanner } from './problem.tsx'

interface Notice {
  text?: string
  problem?: Problem
}

const notice = signal<Notice>({})
let timer: ReturnType<typeof setTimeout> | undefined

export function announce(what: string | Problem): void {
  clearTimeout(timer)
  notice.value = typeof what === 'string' ? { text: what } : { problem: what }
  // A problem stays until it is dismissed or the next act.
  if (typeof what === 'string') timer = setTimeout(() => (notice.value = {}), 6_000)
}

export function Notices() {
  const { text, problem } = notice.value
  return (
    <div class="notices">
      <div role="status">{text && <p class="notice">{text}</p>}</div>
      {problem && (
        <div class="notice">
          <ProblemBanner problem={problem} />
          <button type="button" onClick={() => (notice.value = {})}>
            Dismiss
          </button>
        </div>
      )}
    </div>
  )
}
