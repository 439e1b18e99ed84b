// What keeping files needs beside the kernel: the places themselves, and the seal of the keys to them.
import type { Storage } from '../../integrations/storage/index.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Seal } from '../../kernel/sealed.ts'

export interface StorageKernel extends Kernel {
  storage: Storage
  storageSeal: Seal
}
