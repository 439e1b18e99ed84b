// What follows from the API's map of states and moves. Pure.
import type { components } from '../../generated/api.d.ts'

export type LifecycleMap = components['schemas']['DeploymentLifecycle']
export type State = components['schemas']['Deployment']['state']

/** Whether some way leads from one state to another. */
export function leadsTo(map: LifecycleMap, from: State, to: State, seen = new Set<State>()): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  const moves = map.states.find(({ state }) => state === from)?.transitions ?? []
  return moves.some(move => leadsTo(map, move.to, to, seen))
}

/** One row of the drawing for each state, in the API's order. */
const ROW = 44
const BOX = { width: 104, height: 26 }
const SIDE = 84

export interface Drawing {
  width: number
  height: number
  boxes: { state: State; x: number; y: number; width: number; height: number }[]
  /** The path of a move and of its arrowhead. */
  arrows: { from: State; to: State; path: string; head: string }[]
}

/**
 * States one under the other. A move to the next one is a straight line, one further on an arc at the right, one back an
 * arc at the left: so any map can be drawn, and no line crosses a box.
 */
export function draw({ states }: LifecycleMap): Drawing {
  const row = new Map(states.map(({ state }, i) => [state, i]))
  const [left, right] = [SIDE, SIDE + BOX.width]
  const middle = (i: number) => i * ROW + BOX.height / 2 + 1
  const arrows = states.flatMap(({ state: from, transitions }, i) =>
    transitions.map(({ to }) => {
      const j = row.get(to) ?? i
      if (j === i + 1) {
        const [x, top, end] = [left + BOX.width / 2, middle(i) + BOX.height / 2, middle(j) - BOX.height / 2]
        return {
          from,
          to,
          path: `M${x} ${top}V${end}`,
          head: `M${x - 4} ${end - 6}L${x} ${end}L${x + 4} ${end - 6}`,
        }
      }
      const outward = j > i ? 1 : -1
      const edge = j > i ? right : left
      const bow = edge + outward * Math.min(SIDE * 1.25, 14 + 16 * Math.abs(j - i))
      const [start, end] = [middle(i) + outward * 5, middle(j) - outward * 5]
      const tip = edge + outward * 6
      return {
        from,
        to,
        path: `M${edge} ${start}C${bow} ${start} ${bow} ${end} ${edge} ${end}`,
        head: `M${tip} ${end - 4}L${edge} ${end}L${tip} ${end + 4}`,
      }
    }),
  )
  return {
    width: SIDE * 2 + BOX.width,
    height: (states.length - 1) * ROW + BOX.height + 2,
    boxes: states.map(({ state }, i) => ({ state, x: left, y: i * ROW + 1, ...BOX })),
    arrows,
  }
}
