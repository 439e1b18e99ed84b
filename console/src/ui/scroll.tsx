import type { ComponentChildren, Ref } from 'preact'

interface Props {
  label: string
  class: string
  children: ComponentChildren
  box?: Ref<HTMLDivElement>
}

/** A box that scrolls by itself, also by the keyboard. */
export const Scroll = ({ label, class: className, children, box }: Props) => (
  // No landmark of its own: it often bears the name of the part it is in.
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <div role="group" ref={box} class={className} tabIndex={0} aria-label={label}>
    {children}
  </div>
)
