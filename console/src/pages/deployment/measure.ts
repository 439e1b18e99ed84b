// What is used against what is included and at most allowed. Pure.
import type { Tone } from '../../ui/text.tsx'

export const toneOf = (value: number, included: number, cap: number | null): Tone =>
  cap !== null && value >= cap && cap > included ? 'bad' : value > included ? 'busy' : 'good'

export const short = (decimal: string): string => String(Math.round(Number(decimal) * 100) / 100)
