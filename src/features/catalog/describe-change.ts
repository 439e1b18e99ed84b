// A change of the catalog in words, one to a few lines: what an operator reads before it is made.
import { type Change, priceName } from './catalog-diff.ts'
import { type PlanItem, sameItem, sortedItems, type VersionTerms } from './version-terms.ts'

export interface Line {
  sign: '+' | '~' | '-'
  text: string
}

export function describeChange(change: Change): Line[] {
  switch (change.do) {
    case 'create plan':
      return [{ sign: '+', text: `plan ${change.code} (${change.name})` }]
    case 'rename plan':
      return [{ sign: '~', text: `plan ${change.code}: name ${change.before} → ${change.name}` }]
    case 'publish version':
      return versionLines(change.code, change.before, change.terms)
    case 'create addon': {
      const { code, resource_kind, qty, price_cents, currency } = change.addon
      return [{ sign: '+', text: `addon ${code}: ${qty} ${resource_kind} for ${price_cents} ${currency}` }]
    }
    case 'change addon': {
      const fields = Object.entries(change.after).map(
        ([field, value]) => `${field} ${change.before[field as keyof typeof change.before]} → ${value}`,
      )
      return [{ sign: '~', text: `addon ${change.code}: ${fields.join(', ')}` }]
    }
    case 'end price': {
      const { price, effective_to } = change
      const end = `effective_to ${price.effective_to ?? 'none'} → ${effective_to ?? 'none'}`
      return [{ sign: '~', text: `price ${priceName(price)}: ${end}` }]
    }
    case 'add price': {
      const { price } = change
      const end = price.effective_to === null ? '' : ` to ${price.effective_to}`
      return [{ sign: '+', text: `price ${priceName(price)}${end}: ${price.price_cents}` }]
    }
  }
}

function versionLines(code: string, before: VersionTerms | null, terms: VersionTerms): Line[] {
  const price = `${terms.base_price_cents} ${terms.currency}`
  if (!before)
    return [
      { sign: '+', text: `version of ${code}: ${price}` },
      ...sortedItems(terms.items).map((item): Line => ({ sign: '+', text: `  ${itemText(item)}` })),
    ]
  const was = `${before.base_price_cents} ${before.currency}`
  const head = `version of ${code}: ${was === price ? price : `${was} → ${price}`}`
  return [{ sign: '~', text: head }, ...itemLines(before.items, terms.items)]
}

function itemLines(before: PlanItem[], after: PlanItem[]): Line[] {
  const kinds = [...new Set([...before, ...after].map(item => item.resource_kind))].toSorted()
  return kinds.flatMap((kind): Line[] => {
    const [was, is] = [before, after].map(items => items.find(item => item.resource_kind === kind))
    if (was && is)
      return sameItem(was, is) ? [] : [{ sign: '~', text: `  ${itemText(was)} → ${itemText(is)}` }]
    return is ? [{ sign: '+', text: `  ${itemText(is)}` }] : [{ sign: '-', text: `  ${itemText(was!)}` }]
  })
}

function itemText(item: PlanItem): string {
  const overage =
    item.overage_unit === null ? [] : [`then ${item.overage_price_cents} per ${item.overage_unit}`]
  const cap = item.hard_cap_qty === null ? [] : [`at most ${item.hard_cap_qty}`]
  return [`${item.included_qty} ${item.resource_kind}`, ...overage, ...cap].join(', ')
}
