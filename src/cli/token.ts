// cloudops token: a test token, as the issuer would make it. The service itself never issues tokens, so this is for
// development alone.
import { SignJWT } from 'jose/jwt/sign'
import { type Config, loadConfig } from '../config.ts'
import { type Command, CommandError, print, text, usageError } from './command.ts'

export interface TokenOptions {
  sub?: string
  tenant?: string
  role?: string
  hours?: number
}

export const token: Command = {
  usage: '[--sub USER] [--tenant TENANT] [--role ROLE] [--hours N]',
  summary: 'Make a test token (development only).',
  details:
    'Without options: user `developer`, role `platform_admin`, no tenant, 12 hours. Refuses in production.',
  options: {
    sub: { type: 'string' },
    tenant: { type: 'string' },
    role: { type: 'string' },
    hours: { type: 'string' },
  },
  async run({ options }) {
    const { config, sources } = loadConfig({ makeSecrets: false })
    const hours = text(options, 'hours')
    if (hours !== undefined && !/^\d{1,4}(\.\d+)?$/.test(hours))
      throw usageError('--hours takes a number of hours')
    if (sources.JWT_SECRET === 'not set' && config.NODE_ENV !== 'production')
      throw new CommandError(
        'There is nothing to sign with: start the service here once (`npm start`), or set DATA_DIR to its folder.',
      )
    print(
      await developmentToken(config, {
        sub: text(options, 'sub'),
        tenant: text(options, 'tenant'),
        role: text(options, 'role'),
        hours: hours === undefined ? undefined : Number(hours),
      }),
    )
  },
}

export async function developmentToken(
  config: Config,
  { sub = 'developer', tenant, role, hours = 12 }: TokenOptions = {},
): Promise<string> {
  if (config.NODE_ENV === 'production') {
    throw new CommandError('Tokens are issued by another service; in production this one makes none.')
  }
  // A token for a tenant is a tenant user's unless a role is named.
  const roleClaim = role ?? (tenant === undefined ? 'platform_admin' : undefined)
  const claims = {
    ...(tenant !== undefined && { [config.JWT_TENANT_CLAIM]: tenant }),
    ...(roleClaim !== undefined && { [config.JWT_ROLE_CLAIM]: roleClaim }),
  }
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setSubject(sub).setIssuedAt()
  jwt
    .setExpirationTime(Math.floor(Date.now() / 1000 + hours * 3600))
    // With a JWKS the issuer is one whose keys nobody has here.
    .setIssuer((config.JWT_JWKS_URL ? undefined : config.JWT_ISSUER) ?? 'cloudops-development')
  if (config.JWT_AUDIENCE) jwt.setAudience(config.JWT_AUDIENCE)
  return jwt.sign(Buffer.from(config.JWT_SECRET[0]!))
}
