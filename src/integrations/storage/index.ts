// What the rest of the service may use of the places where files are kept. It knows no feature and no database.
export {
  type FileToPut,
  type ObjectStore,
  StorageError,
  type StorageFault,
  UNREACHABLE,
  verified,
} from './object-store.ts'
export type { S3Limits } from './s3-store.ts'
export { createStorage, type Storage, type StorageLocation, type StorageOptions } from './storage.ts'
