// Which service of FOCUS's catalogue a kind of line belongs to. Names and pairs are the specification's allowed values.

export interface FocusService {
  category: string
  subcategory: string
}

const service = (category: string, subcategory = `Other (${category})`): FocusService => ({
  category,
  subcategory,
})

const SERVICES: Record<string, FocusService> = {
  droplet: service('Compute', 'Virtual Machines'),
  kubernetes_cluster: service('Compute', 'Containers'),
  functions: service('Compute', 'Serverless Compute'),
  app: service('Web', 'Application Platforms'),
  volume: service('Storage', 'Block Storage'),
  snapshot: service('Storage', 'Backup Storage'),
  image: service('Storage', 'Backup Storage'),
  backup: service('Storage', 'Backup Storage'),
  spaces: service('Storage', 'Object Storage'),
  spaces_subscription: service('Storage', 'Object Storage'),
  database: service('Databases'),
  load_balancer: service('Networking', 'Application Networking'),
  reserved_ip: service('Networking', 'Network Infrastructure'),
  domain: service('Networking', 'Network Infrastructure'),
  bandwidth: service('Networking', 'Network Connectivity'),
  registry: service('Developer Tools'),
  support: service('Management and Governance', 'Support'),
}

const OTHER = service('Other')

export const serviceOf = (kind: string): FocusService =>
  Object.hasOwn(SERVICES, kind) ? SERVICES[kind]! : OTHER

/** Every pair that can occur. */
export const focusServices: readonly FocusService[] = [...Object.values(SERVICES), OTHER]
