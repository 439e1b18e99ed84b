// What billing needs beside the kernel: the provider that charges.
import type { Provider } from '../../integrations/digitalocean/index.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface BillingKernel extends Kernel {
  provider: Provider
}
