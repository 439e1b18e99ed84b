// Writes src/kernel/db/tables.generated.ts from the migrated schema, or with --check says whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { migrate } from '../src/kernel/db/migrations.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { systemClock } from '../src/kernel/time.ts'

const file = join(import.meta.dirname, '../src/kernel/db/tables.generated.ts')

/** What the engines make of a column's type; see `parsers` in src/kernel/db/engine.ts. */
const TYPES: Record<string, string> = {
  text: 'string',
  uuid: 'string',
  date: 'string',
  timestamptz: 'string',
  numeric: 'string',
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  json: 'unknown',
  jsonb: 'unknown',
  _text: 'string[]',
  _uuid: 'string[]',
}

const engine = await openPglite({})
await migrate(engine, systemClock)
const tables = await engine.db.introspection.getTables()
const { rows: computed } = await sql<{ name: string }>`
  select attrelid::regclass || '.' || attname as name from pg_attribute where attgenerated <> ''`.execute(
  engine.db,
)
await engine.close()
const isComputed = new Set(computed.map(({ name }) => name))

const lines = tables
  .filter(({ schema, name }) => schema === 'public' && name !== 'schema_migrations')
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  .flatMap(({ name: table, columns }) => [
    `  ${table}: {`,
    ...columns.map(({ name, dataType, isNullable, hasDefaultValue }) => {
      const type = TYPES[dataType]
      if (type === undefined) throw new Error(`${table}.${name}: add ${dataType} to TYPES`)
      const selected = isNullable && type !== 'unknown' ? `${type} | null` : type
      if (isComputed.has(`${table}.${name}`)) return `    ${name}: ColumnType<${selected}, never, never>`
      return `    ${name}: ${hasDefaultValue ? `Generated<${selected}>` : selected}`
    }),
    '  }',
  ])

const text = `// Made from the migrated schema by \`npm run db:types\`; not edited by hand.
import type { ColumnType, Generated } from 'kysely'

export interface GeneratedTables {
${lines.join('\n')}
}
`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (text !== readFileSync(file, 'utf8')) {
  process.stderr.write('tables.generated.ts is not what the migrations make: run `npm run db:types`.\n')
  process.exitCode = 1
}
