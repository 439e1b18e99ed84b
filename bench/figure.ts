// What a figure of the bench is: something of ours measured beside a peer (or a floor) in the same run, and the bar
// that the ratio of the two must reach. With it, what all figures need: rounds in turn, the median, tables.

export interface Figure {
  /** As `npm run bench -- NAME` calls it. */
  name: string
  /** What is measured, in a sentence. */
  measures: string
  /** What it is measured beside, in a sentence. */
  peer: string
  unit: string
  /** Of ours ÷ peer: a throughput wants `atLeast`; a time, a size or a growth wants `atMost`. */
  bar: { atLeast: number } | { atMost: number }
  measure(bench: Bench): Promise<Measurement>
}

/** What a figure may ask of the run. */
export interface Bench {
  /** An empty database of the figure's own, as a connection address; dropped when the figure is done. */
  database(): Promise<string>
  /** A database that `fill` fills once for all figures of the run that name it; dropped at the end of the run. */
  filled(name: string, fill: (url: string) => Promise<void>): Promise<string>
  /** A line on the terminal: a figure that takes a while says where it is. */
  say(line: string): void
}

export interface Measurement {
  ours: number
  peer: number
  /** Markdown for the figure's own part of the results: how it was measured, every round. */
  details: string[]
  /** µs for one row at each size, for the plot of cost against size. */
  bySize?: { size: number; cost: number }[]
}

export interface Result extends Measurement {
  figure: Figure
  ratio: number
  met: boolean
}

export const resultOf = async (figure: Figure, bench: Bench): Promise<Result> =>
  resultFrom(figure, await figure.measure(bench))

export function resultFrom(figure: Figure, measurement: Measurement): Result {
  const ratio = measurement.ours / measurement.peer
  const { bar } = figure
  return {
    ...measurement,
    figure,
    ratio,
    met: 'atLeast' in bar ? ratio >= bar.atLeast : ratio <= bar.atMost,
  }
}

export const barInWords = ({ bar }: Figure): string =>
  'atLeast' in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`

export interface Pair<Ours, Peer = Ours> {
  ours: Ours
  peer: Peer
}

/**
 * Rounds that alternate between ours and the peer, each pair in the other order than the one before, so that neither
 * always runs on the machine the other has just warmed or tired.
 */
export async function alternate<Ours, Peer = Ours>(
  rounds: number,
  ours: () => Promise<Ours>,
  peer: () => Promise<Peer>,
): Promise<Pair<Ours, Peer>[]> {
  const pairs: Pair<Ours, Peer>[] = []
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

/** One bad round cannot move it. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The middle one of each side's values. */
export const medians = <Ours, Peer>(
  rounds: Pair<Ours, Peer>[],
  ours: (value: Ours) => number,
  peer: (value: Peer) => number,
) => ({
  ours: median(rounds.map(round => ours(round.ours))),
  peer: median(rounds.map(round => peer(round.peer))),
})

/** In Markdown. Numbers are rounded; what needs decimals comes as text. */
export const table = (head: string[], rows: (string | number)[][]): string[] => [
  `| ${head.join(' | ')} |`,
  `|${'---:|'.repeat(head.length)}`,
  ...rows.map(
    row => `| ${row.map(cell => (typeof cell === 'number' ? cell.toFixed(0) : cell)).join(' | ')} |`,
  ),
]

/** The same with the number of each round before it. */
export const roundsTable = (head: string[], rows: (string | number)[][]): string[] =>
  table(
    ['Round', ...head],
    rows.map((row, index) => [index + 1, ...row]),
  )

export const thousands = (value: number): string => value.toLocaleString('en-US')
