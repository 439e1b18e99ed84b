import type { ComponentChildren, Ref } from 'preact'

interface Props {
  label: string
  class: string
  children: ComponentChildren
  box?: Ref<HTMLElement>
}

/** A box that scrolls by itself, also by the keyboard. */
export const Scroll = ({ label, class: className, children, box }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <section ref={box} class={className} tabIndex={0} aria-label={label}>
    {children}
  </section>
)
