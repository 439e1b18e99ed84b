// Money as the provider's CSV writes it, read exactly: text in, text out, and never a float in between. A fraction of a
// minor unit is kept in `amount`; `minor` rounds it, half away from zero, for each line by itself.

export interface Amount {
  /** An exact decimal. */
  amount: string
  /** In whole minor units. */
  minor: number
}

// Sign, symbol, sign, digits with or without groups of three, fraction; all of it in parentheses means negative too.
const WRITTEN =
  /^(\()?([-−+])?[ ]?(?:[A-Z]{0,3}\p{Sc})?[ ]?([-−+])?(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?(\))?$/u

const MOST_DIGITS = 15
const MOST_FRACTION = 18

/** Undefined when it is no amount. `digits` is how many decimals the currency's minor unit has. */
export function readAmount(text: string, digits: number): Amount | undefined {
  const match = WRITTEN.exec(text)
  if (!match) return undefined
  const [, open, before, after, grouped = '', fraction = '', close] = match
  if ((open === undefined) !== (close === undefined)) return undefined
  if ([open, before, after].filter(mark => mark !== undefined).length > 1) return undefined
  const negative = open !== undefined || isMinus(before) || isMinus(after)
  const whole = grouped.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  if (whole === '' && fraction === '') return undefined
  if (whole.length > MOST_DIGITS || fraction.length > MOST_FRACTION) return undefined
  const minor = minorOf(whole, fraction, digits)
  if (!Number.isSafeInteger(minor)) return undefined
  const decimal = `${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`
  const isNothing = minor === 0 && !/[1-9]/.test(decimal)
  return {
    amount: negative && !isNothing ? `-${decimal}` : decimal,
    minor: negative && minor !== 0 ? -minor : minor,
  }
}

const isMinus = (mark: string | undefined) => mark === '-' || mark === '−'

function minorOf(whole: string, fraction: string, digits: number): number {
  const kept = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'))
  return fraction.charCodeAt(digits) >= FIVE ? kept + 1 : kept
}

const FIVE = '5'.charCodeAt(0)

const known = new Map<string, number>()

/** Decimals of a currency's minor unit: 2 for USD, 0 for JPY. */
export function minorDigits(currency: string): number {
  let digits = known.get(currency)
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    digits = format.resolvedOptions().maximumFractionDigits ?? 2
    known.set(currency, digits)
  }
  return digits
}
