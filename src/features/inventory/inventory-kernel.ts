// What the inventory needs beside the kernel: the provider it mirrors, and whose the internal project is.
import type { Providers } from '../../integrations/digitalocean/index.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface InventoryKernel extends Kernel {
  providers: Providers
  platformTenantId: string
}
