// What the rest of the service may use of the finance client. It knows no feature and no database.
export { FinanceError, type FinanceFault } from './errors.ts'
export {
  createFinance,
  type Finance,
  type FinanceLimits,
  type FinanceOptions,
} from './finance.ts'
export type { FinanceAction, Receipt } from './receipt.ts'
