// Rounds that alternate between ours and the peer, each pair in the other order than the one before, so that neither
// always runs on the machine the other has just warmed or tired; and the median, which one bad round cannot move.

export interface Pair<T> {
  ours: T
  peer: T
}

export async function alternate<T>(
  rounds: number,
  ours: () => Promise<T>,
  peer: () => Promise<T>,
): Promise<Pair<T>[]> {
  const pairs: Pair<T>[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const first = await ours()
      pairs.push({ ours: first, peer: await peer() })
    } else {
      const first = await peer()
      pairs.push({ ours: await ours(), peer: first })
    }
  }
  return pairs
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
