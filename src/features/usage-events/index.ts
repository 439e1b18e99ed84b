// Usage events: what other parts of the service may use.
export { usageEventRoutes } from './routes.ts'
export {
  countMembers,
  findMeterUse,
  type LateMonth,
  lateMonthsOf,
  listLateMonths,
  type MeterCount,
  type MeterSum,
  meteredWithin,
  settleLateMonths,
  sumMeters,
} from './store.ts'
