// A statement that is sent together with the `begin` before it or the `commit` after it, as messages of one round trip.
import pg from 'pg'

/** What node-postgres does not declare of a statement that is sent in several messages, and of where they go. */
interface ExtendedQuery extends pg.Submittable {
  name: string | undefined
  prepare(to: Messages): void
  handleCommandComplete(message: object, to: Messages): void
}

export interface Messages {
  parsedStatements: Record<string, string | undefined>
  bind(message: object): void
  execute(message?: object): void
}

/** Prepared under these names: they have to be, for nothing may be parsed in between. */
export const BEGIN = { name: 'begin', text: 'begin' }
export const COMMIT = { name: 'commit', text: 'commit' }

const Extended = pg.Query as unknown as new (text: string, values: unknown[] | undefined) => ExtendedQuery

/** From its parts: a whole config node-postgres copies by its descriptors, a twentieth of what a read costs. */
export class NamedQuery extends Extended {
  constructor({ text, values, name }: pg.QueryConfig) {
    super(text, values)
    this.name = name
  }
}

export interface Joined {
  begin: boolean
  commit: boolean
}

/**
 * After an error the server skips what follows up to the end of the round trip: where it does not begin, the statement is not
 * run, and where the statement fails, nothing is committed. Answered as the commit is, if there is one.
 */
export class JoinedQuery extends NamedQuery {
  #joined: Joined
  /** Completions that are not the answer. */
  #others: number

  constructor(config: pg.QueryConfig, joined: Joined) {
    super(config)
    this.#joined = joined
    this.#others = Number(joined.begin) + Number(joined.commit)
  }

  override prepare(to: Messages): void {
    const { begin, commit } = this.#joined
    if (begin) run(to, BEGIN.name)
    super.prepare(commit ? followedBy(to, COMMIT.name) : to)
  }

  override handleCommandComplete(message: object, to: Messages): void {
    if (this.#others-- <= 0) super.handleCommandComplete(message, to)
  }
}

function run(to: Messages, statement: string): void {
  to.bind({ statement })
  to.execute()
}

/** The same, and what is run is followed by another statement. What could not be written down is not run, nor followed. */
const followedBy = (to: Messages, statement: string): Messages =>
  Object.create(to, {
    execute: {
      value(message?: object) {
        to.execute(message)
        run(to, statement)
      },
    },
  })
