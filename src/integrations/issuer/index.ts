// The issuer of tokens, where it signs with keys of its own: its public keys, kept and renewed.
export { createIssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
export { fetchKeySet } from './key-set.ts'
