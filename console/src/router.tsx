// The address bar is the console's only state: the path names the page, the query its filters.
import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { calls } from './api.ts'

const address = signal(location.pathname + location.search)

export const path = computed(() => address.value.split('?')[0]!)
export const search = computed(() => new URLSearchParams(address.value.split('?')[1] ?? ''))

/** Sends the browser to another page, or with `replace` changes this one's address. */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === address.peek()) return
  const samePage = to.split('?')[0] === path.peek()
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  calls.value = []
  address.value = to
  if (samePage) return
  scrollTo(0, 0)
  // Where a browser puts the focus after following a link.
  document.getElementById('main')?.focus({ preventScroll: true })
}

addEventListener('popstate', () => {
  calls.value = []
  address.value = location.pathname + location.search
})

/** The current filters: `filter('kind')`, undefined when it is not set. */
export const filter = (name: string): string | undefined => search.value.get(name) || undefined

/** Sets some filters and leaves the others; an empty one is taken away. */
export function setFilters(changed: Record<string, string | undefined>, { replace = false } = {}): void {
  const next = new URLSearchParams(search.peek())
  for (const [name, value] of Object.entries(changed)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  const query = next.toString()
  navigate(path.peek() + (query && `?${query}`), { replace })
}

interface LinkProps {
  href: string
  children: ComponentChildren
  class?: string
  'aria-current'?: 'page' | undefined
  /** Where the text alone does not say where it leads. */
  'aria-label'?: string
}

/** A link to another page of the console; clicks with a modifier are the browser's own. */
export function Link({ href, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(href)
  }
  return (
    <a href={href} onClick={follow} {...rest}>
      {children}
    </a>
  )
}

/** `/inventory/:id` against `/inventory/17` is `{id: '17'}`. */
export function match(pattern: string, actual: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), actual.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decode(given[i]!)
    else if (part !== given[i]) return undefined
  }
  return params
}

/** What somebody typed need not be encoded well. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Path of a page with its parts encoded: to`/sagas/${id}`. */
export const to = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values.map(encodeURIComponent))

/** The filters that are set, as the API's query takes them: `query: filters('kind', 'region')`. The API checks them. */
export const filters = <Name extends string>(...names: Name[]): Partial<Record<Name, never>> =>
  Object.fromEntries(names.flatMap(name => (filter(name) ? [[name, filter(name)]] : []))) as Partial<
    Record<Name, never>
  >
