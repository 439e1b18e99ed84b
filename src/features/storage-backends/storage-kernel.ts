// What keeping files needs beside the kernel: the places themselves, and the seal of the keys to them.
import type { Storage } from '../../integrations/storage/index.ts'
import type { Encryption } from '../../kernel/crypto.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface StorageKernel extends Kernel {
  storage: Storage
  storageEncryption: Encryption
}
