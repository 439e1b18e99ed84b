// Droplets whose SSH anybody may reach.
import type { Check } from '../check.ts'
import { openTo } from '../firewall-rules.ts'

export const dropletOpenSsh: Check = {
  name: 'droplet_open_ssh',
  title: 'Droplet with SSH open to everybody',
  description:
    'A firewall of the droplet lets port 22 in from every address, where it is tried around the clock. Let in the addresses that need it, or a bastion.',
  category: 'security',
  severity: 'medium',
  // Firewalls are the account’s: a tenant is not shown their names.
  forTenants: false,
  cost: 'none',
  query: openTo(22),
}
