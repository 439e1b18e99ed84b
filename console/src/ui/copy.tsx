import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Problem } from '../api.ts'
import { Dialog } from './dialog.tsx'
import { announce } from './notices.tsx'

/** Puts a text into the clipboard, which a browser lends to https and to this machine alone. */
export function Copy({ text, children = 'Copy' }: { text: string; children?: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      announce('Copied')
    } catch {
      announce(
        new Problem({ title: 'Not copied', detail: 'The browser refused. Select the text and copy it.' }),
      )
    }
  }
  return (
    <button type="button" onClick={copy}>
      {children}
    </button>
  )
}

interface OnceProps {
  title: string
  label: string
  value: string
  onClose: () => void
  children?: ComponentChildren
}

/** A secret that the API shows once: read, copied, gone. */
export function Once({ title, label, value, onClose, children }: OnceProps) {
  const id = useId()
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="field">
        <label for={id}>{label}</label>
        <input
          id={id}
          class="code"
          readOnly
          autofocus
          value={value}
          autocomplete="off"
          onFocus={event => event.currentTarget.select()}
        />
        <p class="quiet">It is shown now and never again.</p>
      </div>
      <footer>
        <Copy text={value} />
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}
