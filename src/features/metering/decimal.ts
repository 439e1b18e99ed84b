// Quotients of whole numbers, rounded once and never a float. Pure.

/** Half away from zero. The divisor is positive. */
export function rounded(dividend: bigint, divisor: bigint): bigint {
  const size = dividend < 0n ? -dividend : dividend
  const nearest = (2n * size + divisor) / (2n * divisor)
  return dividend < 0n ? -nearest : nearest
}

/** As a decimal with at most so many places, without zeros at its end. */
export function decimal(dividend: bigint, divisor: bigint, places: number): string {
  const scaled = rounded(dividend * 10n ** BigInt(places), divisor)
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(places + 1, '0')
  const [whole, fraction] = [digits.slice(0, -places), digits.slice(-places).replace(/0+$/, '')]
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
