// What pushing needs beside the kernel: the finance service, when there is one.
import type { Finance } from '../../integrations/finance/index.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface FinanceKernel extends Kernel {
  /** Undefined when none is configured: then nothing is pushed, and nothing fails. */
  finance: Finance | undefined
}
