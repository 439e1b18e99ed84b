// What a droplet is called: its name becomes its hostname. Pure, but for the part that makes a default unique.
import { randomBytes } from 'node:crypto'

const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'

/** A hostname: labels of up to 63 letters, digits and inner hyphens, joined by dots. */
export const HOSTNAME = `^${LABEL}(\\.${LABEL})*$`
export const LONGEST_HOSTNAME = 253

/** `<slug>-<short unique part>`, still one label when the slug is as long as it may be. */
export function defaultDropletName(slug: string): string {
  const part = randomBytes(4).toString('hex')
  return `${slug.slice(0, 63 - part.length - 1).replace(/-+$/, '')}-${part}`
}
