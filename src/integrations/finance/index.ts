// What the rest of the service may use of the finance client. It knows no feature and no database.
export { createFinance, type Finance, type FinanceLimits, type FinanceOptions } from './finance.ts'
export { type FinanceAction, FinanceError, type FinanceFault, type Receipt } from './receipt.ts'
