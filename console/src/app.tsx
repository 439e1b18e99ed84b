// The frame: navigation, the page that the address names, and what lies over every page.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Palette, paletteOpen } from './palette.tsx'
import { Link, match, navigate, path } from './router.tsx'
import { type PageProps, type Route, routes } from './routes.ts'
import { may, session, signOut } from './session.tsx'
import { SessionEnded, SignIn } from './sign-in.tsx'
import { nextTheme, theme } from './theme.ts'
import { announce, Notices } from './ui/notices.tsx'
import { Empty, Loading } from './ui/state.tsx'

export function App() {
  useEffect(() => {
    addEventListener('keydown', onShortcut)
    return () => removeEventListener('keydown', onShortcut)
  }, [])
  if (session.value === undefined) return <Loading />
  if (session.value === null) return <SignIn />
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      <Notices />
      <Palette />
      <SessionEnded />
    </>
  )
}

/** `/` puts the cursor into the page's search; Ctrl-K, Cmd-K and, on a page without a search, `/` open the commands. */
function onShortcut(event: KeyboardEvent): void {
  if (!session.value) return
  if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault()
    paletteOpen.value = true
    return
  }
  const typing = event.target instanceof Element && event.target.closest('input, select, textarea, dialog')
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (field) field.select()
  else paletteOpen.value = true
}

const visible = (within?: string) =>
  routes.filter(route => route.nav && route.within === within && may(route.operation))

const isAt = (href: string) => path.value === href || (href !== '/' && path.value.startsWith(`${href}/`))

const PageLinks = ({ pages }: { pages: Route[] }) => (
  <ul>
    {pages.map(({ path: href, nav }) => {
      const inside = isAt(href) ? visible(href) : []
      // Of a page and the pages within it, one is the current one.
      const current = isAt(href) && !inside.some(page => isAt(page.path))
      return (
        <li key={href}>
          <Link href={href} aria-current={current ? 'page' : undefined}>
            {nav}
          </Link>
          {inside.length > 0 && <PageLinks pages={inside} />}
        </li>
      )
    })}
  </ul>
)

function Navigation() {
  const { sub, kind, tenant_id } = session.value!
  const leave = () => signOut().catch(announce)
  return (
    <header class="side">
      <p class="brand">Cloud Operations</p>
      <nav aria-label="Pages">
        <PageLinks pages={visible()} />
      </nav>
      <div class="who">
        <p title={sub}>{sub}</p>
        <p class="quiet">{kind === 'member' ? tenant_id : kind.replace('_', ' ')}</p>
        <button type="button" class="plain" onClick={() => (paletteOpen.value = true)}>
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="plain" onClick={nextTheme}>
          Theme: {theme.value}
        </button>
        <button type="button" class="plain" onClick={leave}>
          Sign out
        </button>
      </div>
    </header>
  )
}

function CurrentPage() {
  const found = find(path.value)
  const first = visible()[0]
  useEffect(() => {
    if (!found && path.value === '/' && first) navigate(first.path, { replace: true })
  }, [found, first])
  if (found && may(found.route.operation)) {
    // Another resource is another page: nothing of the one before is kept.
    return <LoadedPage key={JSON.stringify([found.route.path, found.params])} {...found} />
  }
  if (path.value === '/' && first) return <Loading />
  return (
    <>
      <h1>{found ? 'Not yours to see' : 'No such page'}</h1>
      <Empty>
        {found
          ? 'What this page shows needs a permission that you do not have.'
          : 'The address names no page of the console.'}
      </Empty>
    </>
  )
}

function find(actual: string): { route: Route; params: Record<string, string> } | undefined {
  for (const route of routes) {
    const params = match(route.path, actual)
    if (params) return { route, params }
  }
}

const loaded = new Map<string, ComponentType<PageProps>>()

function LoadedPage({ route, params }: { route: Route; params: Record<string, string> }) {
  const [, setLoaded] = useState(0)
  const [failed, setFailed] = useState(false)
  const Component = loaded.get(route.path)
  useEffect(() => {
    if (loaded.has(route.path)) return
    route.load().then(
      module => {
        loaded.set(route.path, module.default)
        setLoaded(count => count + 1)
      },
      () => setFailed(true),
    )
  }, [route])
  if (failed)
    return <Empty>The page could not be loaded: the console has been updated meanwhile. Reload it.</Empty>
  return Component ? <Component params={params} /> : <Loading />
}
