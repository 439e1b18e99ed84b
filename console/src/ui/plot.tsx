// Series over time, drawn by uPlot, which is loaded when a page first has one. The same numbers stand in a table under it.
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { Scroll } from './scroll.tsx'

interface Series {
  name: string
  /** One for each of `times`; null: not known. */
  values: (number | null)[]
}

interface PlotProps {
  label: string
  /** ISO times or dates. */
  times: string[]
  series: Series[]
  /** `stacked`: bars on top of each other. */
  as?: 'line' | 'stacked'
  format?: (value: number) => string
  formatTime?: (time: string) => string
  /** Of stacked bars those that are not known yet: from which on, and the word for them. They are drawn faint. */
  estimated?: { from: number; word: string } | undefined
}

const HEIGHT = 220
/** Told apart in light, in dark, and by most eyes. */
const COLOURS = ['#2a9d8f', '#e76f51', '#5b7fd6', '#c99a2e', '#9b5fb5', '#6f8f3a', '#c2557a', '#5c8a99']

export function Plot({
  label,
  times,
  series,
  as = 'line',
  format = String,
  formatTime = shortDate,
  estimated,
}: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const key = JSON.stringify([times, series, as, estimated])
  useEffect(() => {
    let plot: uPlot | undefined
    let gone = false
    let observer: ResizeObserver | undefined
    Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]).then(([{ default: UPlot }]) => {
      const element = box.current
      if (gone || !element) return
      const width = () => Math.max(200, element.clientWidth)
      plot = new UPlot(options(UPlot, width()), rowsOf(), element)
      observer = new ResizeObserver(() => plot?.setSize({ width: width(), height: HEIGHT }))
      observer.observe(element)
    })
    return () => {
      gone = true
      observer?.disconnect()
      plot?.destroy()
    }
  }, [key])

  function rowsOf(): uPlot.AlignedData {
    if (as === 'line')
      return [times.map(time => Date.parse(time) / 1000), ...series.map(({ values }) => values)]
    // Each lies on the sum of those before it; the highest is drawn first.
    const sums = times.map(() => 0)
    const stacked = series.map(({ values }) => values.map((value, i) => (sums[i] = sums[i]! + (value ?? 0))))
    // Side by side at equal distances: months differ in length, and their bars must not.
    return [times.map((_, i) => i), ...stacked.reverse()]
  }

  /** As many as have room, the last always. */
  function barLabels(width: number): string[] {
    const labels = times.map(formatTime)
    const longest = Math.max(...labels.map(label => label.length))
    const step = Math.ceil((labels.length * (7 * longest + 10)) / Math.max(1, width - 100))
    return labels.map((label, i) => ((labels.length - 1 - i) % step === 0 ? label : ''))
  }

  function options(UPlot: typeof uPlot, width: number): uPlot.Options {
    const colour = getComputedStyle(box.current!).color
    const axis = { stroke: colour, grid: { stroke: '#8883', width: 1 }, ticks: { stroke: '#8883' } }
    const drawn = series.map(({ name }, i) => ({ name, colour: COLOURS[i % COLOURS.length]! }))
    if (as === 'stacked') drawn.reverse()
    const bars = as === 'stacked' ? UPlot.paths.bars!({ size: [0.7, 60] }) : undefined
    const behind = getComputedStyle(document.body).backgroundColor
    return {
      width,
      height: HEIGHT,
      ...(estimated && { hooks: { draw: [plot => fade(plot, estimated.from - 0.5, behind)] } }),
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: {
        ...(bars && { x: { time: false, range: (): [number, number] => [-0.6, times.length - 0.4] } }),
        y: { range: (_plot, min, max) => [Math.min(0, min ?? 0), (max ?? 0) * 1.05 || 1] },
      },
      axes: [
        bars
          ? { ...axis, splits: () => times.map((_, i) => i), values: plot => barLabels(plot.width) }
          : axis,
        // As wide as the longest label, which is not known before.
        {
          ...axis,
          size: (_plot, labels) => 20 + 7 * Math.max(5, ...(labels ?? []).map(text => text.length)),
          values: (_plot: uPlot, splits: number[]) => splits.map(split => format(split)),
        },
      ],
      series: [
        {},
        ...drawn.map(({ name, colour }) => ({
          label: name,
          stroke: colour,
          ...(bars && { paths: bars, fill: colour }),
          width: bars ? 0 : 2,
          points: { show: !bars && times.length < 40 },
        })),
      ],
    }
  }

  return (
    <figure class="plot">
      <figcaption>
        {label}
        <ul>
          {series.map(({ name }, i) => (
            <li key={name}>
              <span class="swatch" style={{ background: COLOURS[i % COLOURS.length]! }} aria-hidden="true" />{' '}
              {name}
            </li>
          ))}
          {estimated && (
            <li class="quiet">
              <span class="swatch faint" aria-hidden="true" /> {estimated.word}
            </li>
          )}
        </ul>
      </figcaption>
      <div ref={box} aria-hidden="true" />
      <details>
        <summary>As a table</summary>
        <Scroll class="table-box" label={label}>
          <table aria-label={label}>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, i) => (
                <tr key={time}>
                  <th scope="row">
                    {formatTime(time)}
                    {estimated && i >= estimated.from && <span class="quiet"> {estimated.word}</span>}
                  </th>
                  {series.map(({ name, values }) => (
                    <td key={name} class="number">
                      {values[i] === null || values[i] === undefined ? '–' : format(values[i])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  )
}

/** Lays the page's own colour over everything from a place on. */
function fade({ ctx, bbox, valToPos }: uPlot, from: number, colour: string) {
  const left = Math.max(bbox.left, valToPos(from, 'x', true))
  ctx.save()
  ctx.globalAlpha = 0.55
  ctx.fillStyle = colour
  ctx.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height)
  ctx.restore()
}

const shortDate = (time: string) => time.slice(0, 10)
