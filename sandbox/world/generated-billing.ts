// Decides what a generated world is billed: as many lines as asked for, each computed when it is read, so
// that an invoice of a million lines can be downloaded without being held anywhere.
import {
  type Billing,
  endedPeriods,
  hoursIn,
  type Invoice,
  type InvoiceLine,
  invoice,
  type Lines,
  periodBefore,
} from './billing.ts'
import type { LazyBase } from './collection.ts'
import type { Droplet } from './official.ts'

function lazyLines(length: number, droplets: LazyBase<Droplet> | undefined, hours: number): Lines {
  const at = (index: number): InvoiceLine | undefined => {
    if (index < 0 || index >= length) return undefined
    if (index === length - 1) {
      return { product: 'Taxes', description: 'STATE SALES TAX (6.25%)', cents: length, category: 'iaas' }
    }
    const droplet = droplets === undefined ? undefined : droplets.at(index % droplets.count)
    return {
      product: 'Droplets',
      description:
        droplet === undefined ? `vm-${index} (s-1vcpu-1gb)` : `${droplet.name} (${droplet.size_slug})`,
      hours,
      cents: Math.round((droplet?.size.price_monthly ?? 6) * 100),
      project: 'platform',
      category: 'iaas',
    }
  }
  return {
    length,
    at,
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index += 1) yield at(index)!
    },
  }
}

export function generatedBilling(
  startedAt: Date,
  lines: number,
  droplets: LazyBase<Droplet> | undefined,
): Billing {
  const first = periodBefore(startedAt, 2)
  // The total takes a walk over all lines: once for each period is enough.
  const known = new Map<string, Invoice>()
  const of = (period: string) => {
    const billed = known.get(period) ?? invoice(period, lazyLines(lines, droplets, hoursIn(period)))
    known.set(period, billed)
    return billed
  }
  return {
    currency: 'USD',
    customer: { name: 'Generated', company: 'Generated', email: 'billing@generated.example' },
    invoices: now => endedPeriods(first, now).map(of),
    preview: now => of(periodBefore(now, 0)),
  }
}
