// Which engine the tests run on, and marks for the tests that are for one of them: the other shows them as skipped, by name.
// Loads no engine, which the tests of processes do not need.

/** Set by `npm run test:pg`. */
export const testDatabaseUrl = process.env.TEST_DATABASE_URL
export const onPostgres = testDatabaseUrl !== undefined

/** For tests of what happens on several connections at once: the embedded engine has one. */
export const needsPostgres = { skip: onPostgres ? false : 'needs several connections; run on PostgreSQL' }

/** For tests that take long on the embedded engine and that no engine makes a difference to. */
export const onPostgresAlone = { skip: onPostgres ? false : 'takes long here; run on PostgreSQL' }

/** For tests of the embedded engine, and of what needs no database at all. */
export const onEmbeddedAlone = {
  skip: onPostgres ? 'not about PostgreSQL; run on the embedded engine' : false,
}
