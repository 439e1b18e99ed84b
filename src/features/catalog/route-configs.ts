// Who may call the catalog's routes.
export const reads = { guard: 'caller' } as const
export const writes = { guard: 'operator' } as const

export const tags = ['Catalog']
export const base = '/api/v1/catalog'
