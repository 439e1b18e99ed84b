// What the audit log needs beside the kernel: the keys that vouch for it, and the places where its checkpoints are kept.
import type { StorageKernel } from '../storage-backends/index.ts'
import type { AuditKeys } from './audit-keys.ts'

export interface AuditKernel extends StorageKernel {
  auditKeys: AuditKeys
}
