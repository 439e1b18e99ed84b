// Dead letters: what other parts of the service may use.
export { deadLetterRoutes } from './routes.ts'
export { countDeadLetters } from './store.ts'
