// The issuer of tokens, where it signs with keys of its own: its public keys, kept and renewed.
export { fetchKeySet } from './fetch-key-set.ts'
export { createIssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
