// What billing needs beside the kernel: the provider that charges, whose account it charges, finance, and the places where
// raw files are kept.
import type { Providers } from '../../integrations/digitalocean/index.ts'
import type { StorageKernel } from '../storage-backends/index.ts'
import type { FinanceKernel } from './finance-kernel.ts'

export interface BillingKernel extends FinanceKernel, StorageKernel {
  providers: Providers
  platformTenantId: string
}
