// Counts distinct ids in 16 to 32 bytes each, so a listing of a million rows stays small.
// It keeps 64-bit fingerprints: two ids sharing one are counted once, which can only make a listing look
// incomplete (and strike nothing), never complete.

export interface DistinctIds {
  /** True when the id was not seen before. */
  add(id: string): boolean
  readonly size: number
}

export function createDistinctIds(): DistinctIds {
  // Open addressing over pairs of 32-bit words; the pair (0, 0) marks a free slot.
  let slots = new Uint32Array(2 * 64)
  let size = 0

  function place(table: Uint32Array, high: number, low: number): boolean {
    const mask = table.length / 2 - 1
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const heldHigh = table[2 * at]
      const heldLow = table[2 * at + 1]
      if (heldHigh === high && heldLow === low) return false
      if (heldHigh === 0 && heldLow === 0) {
        table[2 * at] = high
        table[2 * at + 1] = low
        return true
      }
    }
  }

  function grow() {
    const wider = new Uint32Array(slots.length * 2)
    for (let at = 0; at < slots.length; at += 2) {
      const high = slots[at] as number
      const low = slots[at + 1] as number
      if (high !== 0 || low !== 0) place(wider, high, low)
    }
    slots = wider
  }

  return {
    add(id) {
      const [high, low] = fingerprint(id)
      if (!place(slots, high, low)) return false
      size += 1
      if (size * 4 > slots.length) grow()
      return true
    },
    get size() {
      return size
    },
  }
}

/** Two multiplicative lanes folded into each other at the end; never (0, 0). */
function fingerprint(text: string): [high: number, low: number] {
  let a = 0x9e3779b9 ^ text.length
  let b = 0x7f4a7c15
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x85ebca6b)
    a ^= a >>> 15
    b = Math.imul(b ^ code, 0xc2b2ae35)
    b ^= b >>> 13
  }
  a = Math.imul(a ^ (b >>> 16), 0x27d4eb2f)
  b = Math.imul(b ^ (a >>> 15), 0x165667b1)
  const high = (a ^ (b >>> 13)) >>> 0
  const low = (b ^ (a >>> 16)) >>> 0
  return [high, high === 0 && low === 0 ? 1 : low]
}
