// Droplets whose PostgreSQL anybody may reach.
import type { Check } from '../check.ts'
import { openTo } from '../firewall-rules.ts'

export const dropletOpenPostgresql: Check = {
  name: 'droplet_open_postgresql',
  title: 'Droplet with PostgreSQL open to everybody',
  description:
    'A firewall of the droplet lets port 5432 in from every address. A database is for its applications: let in their addresses or tags alone.',
  category: 'security',
  severity: 'high',
  // Firewalls are the account’s: a tenant is not shown their names.
  forTenants: false,
  cost: 'none',
  query: openTo(5432),
}
