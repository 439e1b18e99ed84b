// Droplets whose Redis anybody may reach.
import type { Check } from '../check.ts'
import { openTo } from '../firewall-rules.ts'

export const dropletOpenRedis: Check = {
  name: 'droplet_open_redis',
  title: 'Droplet with Redis open to everybody',
  description:
    'A firewall of the droplet lets port 6379 in from every address, and Redis asks for no password unless told to. Let in the addresses or tags of its applications alone.',
  category: 'security',
  severity: 'high',
  // Firewalls are the account’s: a tenant is not shown their names.
  forTenants: false,
  cost: 'none',
  query: openTo(6379),
}
