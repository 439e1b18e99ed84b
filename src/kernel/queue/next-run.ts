// When a cron expression fires next. Working that out takes longer than reading the task from the database, and the
// answer stays the same until it has passed.

export type Preview = (cron: string, from: Date) => Date | undefined

/** `cron` must come from the code's own table of tasks: what is asked once is remembered for good. */
export function rememberNextRun(preview: Preview): (cron: string, now: Date) => string | null {
  const remembered = new Map<string, { from: Date; next: Date; text: string }>()
  return (cron, now) => {
    const known = remembered.get(cron)
    // A clock that was set back asks again.
    if (known && known.from <= now && now < known.next) return known.text
    const next = preview(cron, now)
    if (!next) return null
    const text = next.toISOString()
    remembered.set(cron, { from: now, next, text })
    return text
  }
}
