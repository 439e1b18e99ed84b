// What the rest of the service may use of the places where files are kept. It knows no feature and no database.
export { StorageError, type StorageFault, UNREACHABLE } from './errors.ts'
export type { S3Limits } from './s3-store.ts'
export { createStorage, type Place, type Storage, type StorageOptions } from './storage.ts'
export type { FileToPut, Store } from './store.ts'
export { verified } from './verified.ts'
