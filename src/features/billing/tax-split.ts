// Which lines are tax: those whose description contains gst or tax, and no others. The rule is the specification's, and
// it takes a droplet named `taxi-api` for tax; such a line is flagged, so that somebody looks at it.

const WORDS = /gst|tax/i

export const isTax = (description: string): boolean => WORDS.test(description)

/** Tax by its description, though the provider's own product says otherwise. */
export const isDoubtfulTax = (description: string, product: string): boolean =>
  isTax(description) && product.toLowerCase() !== 'taxes'
