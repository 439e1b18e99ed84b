// Amounts as the provider's files write them, read exactly and never through a float.
const digitsOf = new Map<string, number>()

/** Decimals of a currency's minor unit: 2 for USD, 0 for JPY. */
export function minorDigits(currency: string): number {
  let digits = digitsOf.get(currency)
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    digits = format.resolvedOptions().maximumFractionDigits ?? 2
    digitsOf.set(currency, digits)
  }
  return digits
}

const marksOf = new Map<string, ReadonlySet<string>>()

/** What may stand before an amount in this currency: of USD `$`, `US$`, `USD`, and `$` of CAD too, but never `€` of either. */
function marksOfCurrency(currency: string): ReadonlySet<string> {
  let marks = marksOf.get(currency)
  if (!marks) {
    const [usual, narrow] = (['symbol', 'narrowSymbol'] as const).map(currencyDisplay => {
      const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
      return format.formatToParts(0).find(({ type }) => type === 'currency')!.value
    }) as [string, string]
    const prefixed = /^\p{Sc}$/u.test(narrow) ? [1, 2, 3].map(n => currency.slice(0, n) + narrow) : []
    marks = new Set([currency, usual, narrow, ...prefixed])
    marksOf.set(currency, marks)
  }
  return marks
}

/** `amount` is an exact decimal; `minor` rounds it to whole minor units, half away from zero. */
export interface Amount {
  amount: string
  minor: number
}

// Sign, symbol, sign, digits with or without groups of three, fraction; all of it in parentheses means negative too.
const WRITTEN_AMOUNT =
  /^(\()?([-−+])?[ ]?([\p{L}\p{Sc}]{1,5})?[ ]?([-−+])?(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?(\))?$/u
const MOST_DIGITS = 15
const MOST_FRACTION = 18

/** Undefined when it is no amount in this currency. */
export function readAmount(text: string, currency: string): Amount | undefined {
  const match = WRITTEN_AMOUNT.exec(text)
  if (!match) return undefined
  const [, open, before, mark, after, grouped = '', fraction = '', close] = match
  if (mark !== undefined && !marksOfCurrency(currency).has(mark)) return undefined
  if ((open === undefined) !== (close === undefined)) return undefined
  if ([open, before, after].filter(sign => sign !== undefined).length > 1) return undefined
  const negative = open !== undefined || isMinus(before) || isMinus(after)
  const whole = grouped.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  if (whole === '' && fraction === '') return undefined
  if (whole.length > MOST_DIGITS || fraction.length > MOST_FRACTION) return undefined
  const minor = minorOf(whole, fraction, minorDigits(currency))
  if (!Number.isSafeInteger(minor)) return undefined
  const decimal = `${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`
  const isNothing = minor === 0 && !/[1-9]/.test(decimal)
  return {
    amount: negative && !isNothing ? `-${decimal}` : decimal,
    minor: negative && minor !== 0 ? -minor : minor,
  }
}

const isMinus = (sign: string | undefined) => sign === '-' || sign === '−'

const FIVE = '5'.charCodeAt(0)

function minorOf(whole: string, fraction: string, digits: number): number {
  const kept = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return fraction.charCodeAt(digits) >= FIVE ? kept + 1 : kept
}
