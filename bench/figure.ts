// What a figure of the bench is: something of ours measured beside a peer (or a floor) in the same run, and the bar
// that the ratio of the two must reach.

export interface Figure {
  /** As `npm run bench -- NAME` calls it; also the name of its file. */
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

export async function resultOf(figure: Figure, bench: Bench): Promise<Result> {
  const measurement = await figure.measure(bench)
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
