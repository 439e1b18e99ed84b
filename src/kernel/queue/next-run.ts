// When a cron expression fires next. Working that out takes longer than reading the task from the database, and the
// answer stays the same until it has passed.

export type Preview = (cron: string, from: Date) => Date | undefined

/** `cron` must come from the code's own table of tasks: what is asked once is remembered for good. */
export function rememberNextRun(preview: Preview): (cron: string) => string | null {
  const remembered = new Map<string, { from: number; until: number; next: string }>()
  return cron => {
    const now = Date.now()
    const known = remembered.get(cron)
    // A clock that was set back asks again.
    if (known && known.from <= now && now < known.until) return known.next
    const found = preview(cron, new Date(now))
    if (!found) return null
    const next = found.toISOString()
    remembered.set(cron, { from: now, until: found.getTime(), next })
    return next
  }
}
