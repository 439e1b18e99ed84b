// cloudops secrets reencrypt
import { loadConfig } from '../config.ts'
import type { Reencryption } from '../kernel/crypto-rotation.ts'
import { createLog } from '../kernel/log.ts'
import { type Command, CommandError, print, table, usageError } from './command.ts'

export const secrets: Command = {
  usage: 'reencrypt',
  summary: 'Encrypt every stored value under the first SECRET_KEY, so that older ones can be removed.',
  details:
    'For SECRET_KEY=new,old, once every process runs with it. May run beside them, be stopped and be run again. Exits with 1 while a value is left that needs another key than the first.',
  async run({ positionals: [action, ...rest] }) {
    if (action !== 'reencrypt' || rest.length > 0) throw usageError('secrets takes `reencrypt`')
    const { config } = loadConfig()
    // Loaded here and not at the top: the other commands need not wait for them.
    const [{ open, waitUntilReachable }, { migrationStatus }, { encryptedTables }, { reencryptTable }] =
      await Promise.all([
        import('../kernel/db/open.ts'),
        import('../kernel/db/migrations.ts'),
        import('../encrypted-tables.ts'),
        import('../kernel/crypto-rotation.ts'),
      ])
    const log = createLog('warn')
    const engine = await open({ ...config, DATABASE_POOL_SIZE: 2 }, log)
    try {
      await waitUntilReachable(engine, log, 10_000)
      if ((await migrationStatus(engine)).some(({ state }) => state === 'pending'))
        throw new CommandError('The database lacks migrations: run `cloudops migrate` first.')
      const done: Reencryption[] = []
      for (const encrypted of encryptedTables(config.SECRET_KEY))
        done.push(await reencryptTable(engine.db, encrypted))
      print(
        table(
          ['TABLE', 'RE-ENCRYPTED', 'ALREADY', 'UNREADABLE'],
          done.map(({ table, renewed, current, unreadable }) =>
            [table, renewed, current, unreadable].map(String),
          ),
        ),
      )
      const sum = (of: 'left' | 'unreadable') => done.reduce((total, one) => total + one[of], 0)
      if (sum('left') > 0)
        throw new CommandError(
          'Some process still writes under an older key: start all of them with the new list, then run this again.',
        )
      if (sum('unreadable') > 0)
        throw new CommandError(
          `${sum('unreadable')} values can be read with no listed key: add theirs to SECRET_KEY and run this again, or set them anew.`,
        )
      print('Everything is encrypted under the first SECRET_KEY. The others may be removed.')
    } finally {
      await engine.close()
    }
  },
}
