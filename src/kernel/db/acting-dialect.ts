// Transactions on PostgreSQL that say on whose behalf they are made, in the same round trip as they begin.
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { ACTOR_SETTING, actingText } from '../acting.ts'

export class ActingPostgresDialect extends PostgresDialect {
  #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): Driver {
    return new ActingDriver(this.#config)
  }
}

class ActingDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const acting = actingText()
    if (acting === '') return super.beginTransaction(connection, settings)
    if (settings.isolationLevel || settings.accessMode)
      throw new Error('transactions on a caller’s behalf are begun as they come')
    // Two commands in one text take no parameters.
    const set = `select set_config('${ACTOR_SETTING}', ${pg.escapeLiteral(acting)}, true)`
    await connection.executeQuery(CompiledQuery.raw(`begin; ${set}`))
  }
}
