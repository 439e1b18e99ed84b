// What a provisioned droplet should look like from now on: as it was asked for, and what that came to. Pure. Fields are
// named as the inventory names them, so that each can be compared with what a sweep sees.
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import type { ProvisionInputs } from './schemas.ts'

/** What an order for a size and an image comes to. */
const DELIVERED = ['vcpus', 'memory', 'disk', 'image'] as const

export function desiredSpec(
  { name, region, size }: Pick<ProvisionInputs, 'name' | 'region' | 'size'>,
  tags: string[],
  { attrs }: MappedItem,
): Record<string, unknown> {
  const delivered = DELIVERED.filter(field => Object.hasOwn(attrs, field)).map(field => [field, attrs[field]])
  return { name, region, size_slug: size, tags: tags.toSorted(), ...Object.fromEntries(delivered) }
}
