// Exact decimals as text, for tests that work out sums and products themselves.
export const isDecimal = (text: string): boolean => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)

/** One spelling for each number: no zeros at the end. */
export function decimal(text: string): string {
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return plain === '-0' ? '0' : plain
}

function scaled(text: string): [whole: bigint, digits: number] {
  const [whole = '', fraction = ''] = text.split('.')
  return [BigInt(whole + fraction), fraction.length]
}

function unscaled(whole: bigint, digits: number): string {
  const text = String(whole < 0n ? -whole : whole).padStart(digits + 1, '0')
  const cut = text.length - digits
  return decimal(`${whole < 0n ? '-' : ''}${text.slice(0, cut)}${digits > 0 ? `.${text.slice(cut)}` : ''}`)
}

export function product(a: string, b: string): string {
  const [[x, xDigits], [y, yDigits]] = [scaled(a), scaled(b)]
  return unscaled(x * y, xDigits + yDigits)
}

export function sum(all: readonly string[]): string {
  const digits = Math.max(0, ...all.map(text => scaled(text)[1]))
  const wholes = all.map(text => {
    const [whole, own] = scaled(text)
    return whole * 10n ** BigInt(digits - own)
  })
  return unscaled(
    wholes.reduce((total, each) => total + each, 0n),
    digits,
  )
}
