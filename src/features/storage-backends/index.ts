// Storage backends: what other parts of the service may use.
export { findActive, findCopies, findFile, type KeptFile, listFiles } from './file-repository.ts'
export { keepFile } from './keep-file.ts'
export { encryptedBackends, openActive, storageEncryptionOf } from './open-backend.ts'
export { readFile } from './read-file.ts'
export { recordFile } from './record-file.ts'
export { storageBackendRoutes } from './routes.ts'
