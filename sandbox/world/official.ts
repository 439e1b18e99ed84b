// Decides that the sandbox speaks in the provider's own words: every object is typed by the official
// specification. It leaves nearly every field optional; here ids and names are there, because every
// object of this world has them.
import type { components } from '../../src/integrations/digitalocean/generated/api.d.ts'

type Schemas = components['schemas']

export type Droplet = Schemas['droplet']
export type Volume = Schemas['volume_full'] & { id: string; name: string; region: Region }
export type Snapshot = Schemas['snapshots']
export type Image = Schemas['image'] & { id: number; name: string }
export type LoadBalancer = Schemas['load_balancer'] & { id: string; name: string }
export type Firewall = Schemas['firewall'] & { id: string; name: string }
export type Vpc = Schemas['vpc'] & { id: string; name: string }
export type Domain = Schemas['domain'] & { name: string }
export type SshKey = Schemas['sshKeys'] & { id: number }
export type Database = Schemas['database_cluster_read'] & { id: string }
export type Cluster = Schemas['cluster_read'] & { id: string }
export type App = Schemas['app'] & { id: string }
export type Registry = Schemas['registry'] & { name: string }
export type Region = Schemas['region']
export type Size = Schemas['size']
export type Action = Schemas['action'] & { id: number; status: 'in-progress' | 'completed' | 'errored' }
export type Account = Schemas['account']
export type Project = Schemas['project'] & { id: string; name: string }
export type ProjectResource = Schemas['resource'] & { urn: string }
export type ForwardingRule = Schemas['forwarding_rule']

// Kept with the droplet's id alone; the droplet is put in whole when it is shown, so that it never goes
// stale. (The official type of `region` here is an intersection that nothing can satisfy.)
export type ReservedIp = {
  ip: string
  region: Region
  locked: boolean
  project_id: string
  droplet_id: number | null
}
export type ReservedIpv6 = {
  ip: string
  region_slug: string
  reserved_at: string
  droplet_id: number | null
}
