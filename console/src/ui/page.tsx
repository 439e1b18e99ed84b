import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { apiAddress, asCurl, calls } from '../api.ts'
import { operations } from '../generated/operations.ts'
import type { OperationId } from '../session.tsx'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Scroll } from './scroll.tsx'

interface PageProps {
  title: string
  /** The operation behind the page, for the link to the reference. */
  operation: OperationId
  /** Buttons beside the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Every page: its title, the calls it makes, its reference, what it shows. */
export function Page({ title, operation, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Cloud Operations`
  }, [title])
  const [curl, setCurl] = useState(false)
  return (
    <>
      <header class="page">
        <h1>{title}</h1>
        <div class="actions">{actions}</div>
        <div class="about">
          <button type="button" class="plain" onClick={() => setCurl(true)}>
            As curl
          </button>
          {/* Only the management listener has the reference. */}
          {apiAddress === '' && (
            <a href={referenceOf(operation)} target="_blank" rel="noreferrer">
              Reference
            </a>
          )}
        </div>
      </header>
      {children}
      {curl && <Calls onClose={() => setCurl(false)} />}
    </>
  )
}

/** A part of a page under a heading of its own. */
export const Section = ({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ComponentChildren
  children: ComponentChildren
}) => (
  <section class="part" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {actions}
    </header>
    {children}
  </section>
)

function Calls({ onClose }: { onClose: () => void }) {
  const text = calls.value.map(asCurl).join('\n\n')
  return (
    <Dialog title="The calls of this page" onClose={onClose}>
      <p class="quiet">Put a token into the variable TOKEN first.</p>
      <Scroll class="json" label="Commands">
        <pre>{text}</pre>
      </Scroll>
      <footer>
        <Copy text={text} />
      </footer>
    </Dialog>
  )
}

function referenceOf(operation: OperationId): string {
  const [method, path, tag] = operations[operation]
  return `/docs#tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method}${path}`
}
