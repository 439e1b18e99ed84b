// Budgets: what other parts of the service may use.
export { lookJob } from './actions.ts'
export { budgetHandlers, budgetLook, unusualDays } from './jobs.ts'
export { lookAtBudgets } from './look.ts'
export { budgetRoutes } from './routes.ts'
export { hasBudgets } from './store.ts'
