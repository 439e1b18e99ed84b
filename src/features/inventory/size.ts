// A droplet size of the provider's with its list price, and what it has cost by list before.
import { Type } from 'typebox'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

const Price = Type.String({ description: 'An exact decimal.', examples: ['0.00893'] })

export const Size = noun(
  'Size',
  {
    provider: Type.String(),
    slug: Type.String({ examples: ['s-1vcpu-1gb'] }),
    description: Nullable(Type.String()),
    vcpus: Type.Integer(),
    memory_mb: Type.Integer(),
    disk_gb: Type.Integer(),
    transfer_tb: Type.String({ description: 'Free outbound transfer of a month; an exact decimal.' }),
    price_monthly: Type.String({ ...Price, description: 'The most a month costs; an exact decimal.' }),
    price_hourly: Price,
    currency: Type.String({ description: 'ISO 4217.' }),
    regions: Type.Array(Type.String()),
    available: Type.Boolean({ description: 'Whether new droplets can have it.' }),
    first_seen_at: Time,
    last_seen_at: Type.String({ ...Time, description: 'When the provider last listed it.' }),
  },
  {
    transfer_tb: '$.transfer_tb::text',
    price_monthly: '$.price_monthly::text',
    price_hourly: '$.price_hourly::text',
  },
)

export const SizePrice = noun(
  'SizePrice',
  {
    valid_from: Type.String({ ...Time, description: 'When it was first seen.' }),
    valid_to: Nullable(Type.String({ ...Time, description: 'When another was seen; null: it holds.' })),
    price_monthly: Price,
    price_hourly: Price,
    currency: Type.String({ description: 'ISO 4217.' }),
  },
  { price_monthly: '$.price_monthly::text', price_hourly: '$.price_hourly::text' },
)
