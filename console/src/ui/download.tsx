// A file of the API, by the browser's own download: it is never held in the page, however large it is.
import type { ComponentChildren } from 'preact'
import { apiAddress, calls, Problem, problemOf, refusedSessions } from '../api.ts'
import { useAct } from '../query.ts'
import { announce } from './notices.tsx'

interface Props {
  /** The operation's path with its parts filled in: to`/api/v1/billing/invoices/${id}/file`. */
  path: string
  query?: Record<string, string | boolean | undefined>
  children: ComponentChildren
  /** A link among words, not a button. */
  plain?: boolean
}

/**
 * A link. The API is asked first, and let go with its first words: a refusal is told here, where a browser would save it or
 * say that there is no file.
 */
export function Download({ path, query = {}, plain = false, children }: Props) {
  const asked = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  const url = `${apiAddress || location.origin}${path}${asked.size > 0 ? `?${asked}` : ''}`
  const act = useAct(async () => {
    const left = new AbortController()
    try {
      const answer = await fetch(url, { credentials: 'include', signal: left.signal })
      if (!answer.ok) {
        if (answer.status === 401) refusedSessions.value += 1
        return announce(await problemOf(answer))
      }
      calls.value = [...calls.value, { method: 'GET', url, body: undefined }].slice(-20)
      const link = Object.assign(document.createElement('a'), { href: url, download: '' })
      link.click()
    } catch {
      announce(new Problem({ title: 'The service cannot be reached' }))
    } finally {
      left.abort()
    }
  })
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    act.run()
  }
  return (
    <a class={plain ? undefined : 'button'} href={url} download="" onClick={follow}>
      {children}
    </a>
  )
}
