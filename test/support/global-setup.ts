// Run once by the test runner before any test file (`--test-global-setup`).
import { prepareDatabases } from './database.ts'

export const globalSetup = prepareDatabases
