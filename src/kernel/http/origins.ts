// Which browser origins may call: the development one, exactly, and https subdomains of one domain.

export type OriginRule = (origin: string | undefined) => boolean

export function originRule(devOrigin: string, domain: string | undefined): OriginRule {
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
  const subdomain = domain && new RegExp(`^https://(${label}\\.)+${domain.replaceAll('.', '\\.')}$`)
  return origin => {
    if (!origin) return false
    return origin === devOrigin || (subdomain instanceof RegExp && subdomain.test(origin))
  }
}
