// Storage backends: what other parts of the service may use.
export { keepFile, openActive, readFile, recordFile } from './files.ts'
export { storageBackendRoutes } from './routes.ts'
export { encryptedBackends, InvoiceFile, storageEncryptionOf } from './storage-backend.ts'
export { findActive, findCopies, findFile, type KeptFile, listFiles } from './store.ts'
