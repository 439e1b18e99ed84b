// What billing needs beside the kernel: the provider that charges, whose account it charges, and finance.
import type { Providers } from '../../integrations/digitalocean/index.ts'
import type { FinanceKernel } from './finance-kernel.ts'

export interface BillingKernel extends FinanceKernel {
  providers: Providers
  platformTenantId: string
}
