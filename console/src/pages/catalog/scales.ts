// What one of a meter is: plans include and prices are for so many units at a time. Read with the page, for its words.
import { signal } from '@preact/signals'
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { may } from '../../session.tsx'
import { decimal } from '../statement-lines.tsx'

/** By the meter's code, where it is more than one. */
const scales = signal(new Map<string, number>())

export function useScales() {
  useQuery(
    async signal => {
      const query = { limit: 500 }
      const { data } = await ok(api.GET('/api/v1/catalog/meters', { params: { query }, signal }))
      scales.value = new Map(data.flatMap(({ code, scale }) => (scale > 1 ? [[code, scale]] : [])))
    },
    [],
    { when: may('listMeters') },
  )
}

/** What a price of a kind is for: `a hour`, `for 1,000,000 tokens`. */
export function priced(kind: string, unit: string): string {
  const scale = scales.value.get(kind)
  return scale ? `for ${decimal(String(scale))} ${unit}s` : `a ${unit}`
}

/** So many of a kind: `3`, or in units `2,000,000`. */
export const counted = (kind: string, quantity: number): string =>
  decimal(String(quantity * (scales.value.get(kind) ?? 1)))
