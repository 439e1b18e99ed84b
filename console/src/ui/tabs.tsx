// The pages of one subject, side by side under the title of each of them.
import { Link, path, search } from '../router.tsx'
import { may, type OperationId } from '../session.tsx'

interface Tab {
  href: string
  name: string
  /** As of a route: who may call none of them does not see the tab. */
  operation: OperationId | OperationId[]
}

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  // The longest wins: a filter of a page over the page, a page over what it is a part of.
  const here = (href: string) => {
    const [page, query] = href.split('?')
    return (
      (path.value === page || path.value.startsWith(`${page}/`)) &&
      [...new URLSearchParams(query)].every(([name, value]) => search.value.get(name) === value)
    )
  }
  const current = tabs.toSorted((a, b) => b.href.length - a.href.length).find(({ href }) => here(href))
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {tabs
          .filter(({ operation }) => may(...[operation].flat()))
          .map(({ href, name }) => (
            <li key={href}>
              <Link href={href} aria-current={href === current?.href ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  )
}
