// What the directory of users needs beside the kernel: the tenant that platform_admins belong to.
import type { Kernel } from '../../kernel/kernel.ts'

export interface UsersKernel extends Kernel {
  platformTenantId: string
}
