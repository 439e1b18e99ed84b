// Decides which planned fault a request meets: the oldest one that matches and has turns left. A fault may
// let some matching requests pass first, and is used up after its number of turns.

export type Turns = {
  /** How many requests meet it; one unless said otherwise. */
  times?: number | 'always'
  /** How many matching requests pass unharmed before it begins. */
  after?: number
  /** Which part of the matching requests meets it, by lot; 0.3 is three of ten. All, unless said otherwise. */
  share?: number
}

export type Planned<F> = { id: number; spec: F & Turns; passed: number; met: number }

export class FaultQueue<F extends object> {
  readonly #planned: Planned<F>[] = []
  #lastId = 0

  /** Returns the fault's id. */
  add(spec: F & Turns): number {
    this.#lastId += 1
    this.#planned.push({ id: this.#lastId, spec, passed: 0, met: 0 })
    return this.#lastId
  }

  take(matches: (spec: F) => boolean): F | undefined {
    for (const planned of this.#planned) {
      const { times = 1, after = 0, share = 1 } = planned.spec
      if (times !== 'always' && planned.met >= times) continue
      if (!matches(planned.spec)) continue
      if (planned.passed < after) {
        planned.passed += 1
        continue
      }
      if (share < 1 && Math.random() >= share) continue
      planned.met += 1
      return planned.spec
    }
    return undefined
  }

  /** All planned faults, used up or not: `met` says how often each struck. */
  list(): readonly Planned<F>[] {
    return this.#planned
  }

  clear(): void {
    this.#planned.length = 0
  }
}
