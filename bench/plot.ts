// bench/cost-by-size.svg: what one row costs as the rows become more, for every figure that was measured at several sizes.
// A flat line is what is wanted. Logarithmic both ways, for sizes and costs span orders of magnitude.
import type { Result } from './figure.ts'

const WIDTH = 720
const HEIGHT = 420
const LEFT = 70
const RIGHT = 200
const TOP = 30
const BOTTOM = 50
const COLOURS = ['#1b6ca8', '#c8553d', '#3a7d44', '#7b4fa3', '#b8860b', '#555555']

interface Series {
  name: string
  points: { size: number; cost: number }[]
}

export function plot(results: Result[]): string | undefined {
  const series = results.flatMap(({ figure, bySize }): Series[] =>
    bySize && bySize.length > 1 ? [{ name: figure.name, points: bySize }] : [],
  )
  if (series.length === 0) return undefined
  const points = series.flatMap(one => one.points)
  const x = scale(
    points.map(point => point.size),
    LEFT,
    WIDTH - RIGHT,
  )
  const y = scale(
    points.map(point => point.cost),
    HEIGHT - BOTTOM,
    TOP,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    '<title>Cost of one row against the number of rows</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${LEFT}" y="18" font-size="14">Cost of one row against the number of rows</text>`,
    ...x.decades.map(
      value =>
        `<line x1="${x.at(value)}" x2="${x.at(value)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#ddd"/><text x="${x.at(value)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${value.toLocaleString('en-US')}</text>`,
    ),
    ...y.decades.map(
      value =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y.at(value)}" y2="${y.at(value)}" stroke="#ddd"/><text x="${LEFT - 8}" y="${y.at(value) + 4}" text-anchor="end">${value} µs</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">rows</text>`,
    ...series.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length]
      const line = points.map(({ size, cost }) => `${x.at(size)},${y.at(cost)}`).join(' ')
      return [
        `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(
          ({ size, cost }) => `<circle cx="${x.at(size)}" cy="${y.at(cost)}" r="3" fill="${colour}"/>`,
        ),
        `<rect x="${WIDTH - RIGHT + 14}" y="${TOP + index * 20}" width="10" height="10" fill="${colour}"/><text x="${WIDTH - RIGHT + 30}" y="${TOP + 9 + index * 20}">${name}</text>`,
      ]
    }),
    '</svg>',
    '',
  ].join('\n')
}

/** From values to pixels by whole decades. */
function scale(values: number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    decades: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    at: (value: number) =>
      Math.round(10 * (from + ((Math.log10(value) - low) / (high - low)) * (to - from))) / 10,
  }
}
