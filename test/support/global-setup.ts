// Run once by the test runner before any test file (`--test-global-setup`); `npm test` has done it before.
import { prepareDatabases } from './prepare-databases.ts'

export const globalSetup = prepareDatabases
