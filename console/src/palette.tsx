// The command palette: Ctrl-K or Cmd-K, then a few letters.
import { signal } from '@preact/signals'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { navigate, to } from './router.tsx'
import { routes } from './routes.ts'
import { may, signOut } from './session.tsx'
import { nextTheme } from './theme.ts'
import { Dialog } from './ui/dialog.tsx'

export const paletteOpen = signal(false)

interface Command {
  name: string
  run: () => void
}

const ID = /^([0-9]{1,18}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

function commands(typed: string): Command[] {
  const pages = routes
    .filter(({ nav, operation }) => nav && may(operation))
    .map(({ nav, path }) => ({ name: `Go to ${nav}`, run: () => navigate(path) }))
  const others = [
    { name: 'Change the theme', run: nextTheme },
    { name: 'Sign out', run: () => void signOut() },
  ]
  const wanted = typed.toLowerCase()
  const found = [...pages, ...others].filter(({ name }) => name.toLowerCase().includes(wanted))
  const name = typed.trim()
  if (ID.test(name)) {
    for (const { path, shows, operation } of routes) {
      if (!shows || !may(operation)) continue
      const [before] = path.split(/:[^/]+$/)
      found.push({ name: `Open the ${shows} ${name}`, run: () => navigate(`${before}${to`${name}`}`) })
    }
  }
  if (name && may('listResources')) {
    const query = new URLSearchParams({ name })
    found.push({ name: `Find resources called “${name}”`, run: () => navigate(`/inventory?${query}`) })
  }
  return found
}

export function Palette() {
  return paletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const found = commands(typed)
  const chosen = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => chosen.current?.scrollIntoView({ block: 'nearest' }), [at])
  const close = () => (paletteOpen.value = false)
  const choose = (command: Command | undefined) => {
    close()
    command?.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setAt((at + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') choose(found[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Commands" onClose={close}>
      <div class="palette">
        <input
          role="combobox"
          aria-label="Command"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
          autocomplete="off"
          autofocus
          value={typed}
          onInput={event => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div role="listbox" id={`${id}-list`} aria-label="Commands">
          {found.map((command, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's, which keeps the focus
            <div
              key={command.name}
              ref={i === at ? chosen : null}
              role="option"
              tabIndex={-1}
              id={`${id}-${i}`}
              aria-selected={i === at}
              onClick={() => choose(command)}
            >
              {command.name}
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  )
}
