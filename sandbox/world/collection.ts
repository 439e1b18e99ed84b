// Decides how a listing is ordered and kept: an optional base computed by index, never stored, with what
// was changed, removed or added laid over it. A million droplets cost no more memory than the changes do.

export type Wanted = { tag?: string; name?: string }

export type LazyBase<T> = {
  readonly count: number
  at(index: number): T
  /** -1 when the base never held this id. */
  indexOf(id: string): number
  /** The only base indexes worth looking at for a filter; undefined: all of them. */
  candidates?(wanted: Wanted): readonly number[] | undefined
}

const emptyBase: LazyBase<never> = {
  count: 0,
  at() {
    throw new RangeError('an empty base holds nothing')
  },
  indexOf: () => -1,
}

export class Collection<T> {
  readonly idOf: (item: T) => string
  readonly #base: LazyBase<T>
  /** Base indexes that are gone, ascending. */
  readonly #gone: number[] = []
  /** Base items that were changed. */
  readonly #changed = new Map<number, T>()
  /** Items the base never held, and where they stand: before it or behind it. */
  readonly #own = new Map<string, T>()
  readonly #head: string[] = []
  readonly #tail: string[] = []

  constructor(idOf: (item: T) => string, base: LazyBase<T> = emptyBase) {
    this.idOf = idOf
    this.#base = base
  }

  get size(): number {
    return this.#head.length + this.#base.count - this.#gone.length + this.#tail.length
  }

  get(id: string): T | undefined {
    const own = this.#own.get(id)
    if (own !== undefined) return own
    const index = this.#baseIndex(id)
    return index < 0 ? undefined : this.#baseItem(index)
  }

  /** The item at a position of the listing. */
  at(position: number): T | undefined {
    if (position < 0 || position >= this.size) return undefined
    if (position < this.#head.length) return this.#own.get(this.#head[position]!)
    const inBase = position - this.#head.length
    const alive = this.#base.count - this.#gone.length
    if (inBase < alive) return this.#baseItem(this.#nthAlive(inBase))
    return this.#own.get(this.#tail[inBase - alive]!)
  }

  slice(offset: number, limit: number): T[] {
    const items: T[] = []
    for (let position = offset; position < Math.min(offset + limit, this.size); position += 1) {
      items.push(this.at(position)!)
    }
    return items
  }

  *[Symbol.iterator](): Generator<T> {
    for (let position = 0; position < this.size; position += 1) yield this.at(position)!
  }

  /** Everything that passes, in listing order; `wanted` lets a lazy base skip what cannot. */
  filter(passes: (item: T) => boolean, wanted: Wanted = {}): T[] {
    const candidates = this.#base.candidates?.(wanted)
    if (candidates === undefined) return [...this].filter(passes)
    const indexes = new Set([...candidates, ...this.#changed.keys()])
    const inBase = [...indexes].filter(index => !this.#isGone(index)).sort((a, b) => a - b)
    return [
      ...this.#head.map(id => this.#own.get(id)!),
      ...inBase.map(index => this.#baseItem(index)),
      ...this.#tail.map(id => this.#own.get(id)!),
    ].filter(passes)
  }

  insert(item: T, place: 'first' | 'last' = 'last'): T {
    const id = this.idOf(item)
    if (this.get(id) !== undefined) throw new Error(`${id} exists already`)
    this.#own.set(id, item)
    if (place === 'first') this.#head.unshift(id)
    else this.#tail.push(id)
    return item
  }

  /** Puts a changed item in the old one's place; its id must stay. */
  replace(item: T): T {
    const id = this.idOf(item)
    if (this.#own.has(id)) this.#own.set(id, item)
    else {
      const index = this.#baseIndex(id)
      if (index < 0) throw new Error(`${id} does not exist`)
      this.#changed.set(index, item)
    }
    return item
  }

  remove(id: string): T | undefined {
    const item = this.get(id)
    if (item === undefined) return undefined
    if (this.#own.delete(id)) {
      const list = this.#head.includes(id) ? this.#head : this.#tail
      list.splice(list.indexOf(id), 1)
      return item
    }
    const index = this.#base.indexOf(id)
    this.#changed.delete(index)
    this.#gone.splice(this.#goneBefore(index), 0, index)
    return item
  }

  #baseIndex(id: string): number {
    const index = this.#base.indexOf(id)
    return index >= 0 && index < this.#base.count && !this.#isGone(index) ? index : -1
  }

  #baseItem(index: number): T {
    return this.#changed.get(index) ?? this.#base.at(index)
  }

  #isGone(index: number): boolean {
    return this.#gone[this.#goneBefore(index)] === index
  }

  /** How many gone indexes are smaller. */
  #goneBefore(index: number): number {
    let low = 0
    let high = this.#gone.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#gone[middle]! < index) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The base index of the n-th item that is still there. */
  #nthAlive(n: number): number {
    let low = 0
    let high = this.#gone.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#gone[middle]! - middle <= n) low = middle + 1
      else high = middle
    }
    return n + low
  }
}
