// Who may call the catalog's routes. One constant for all routes that create, so that they are alike.
export const reads = { guard: 'caller' } as const
export const writes = { guard: 'platform_admin' } as const
export const creates = { guard: 'platform_admin', idempotent: true } as const

export const tags = ['Catalog']
export const base = '/api/v1/catalog'
