// Databases on the bench's PostgreSQL, single queries, and COPY for peers.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import pg from 'pg'

export interface Databases {
  create(): Promise<string>
  dropAll(): Promise<void>
}

export function databases(server: string): Databases {
  const created: string[] = []
  return {
    async create() {
      const name = `bench_${randomBytes(6).toString('hex')}`
      await query(server, `create database ${name}`)
      created.push(name)
      const url = new URL(server)
      url.pathname = `/${name}`
      return url.href
    },
    async dropAll() {
      for (const name of created.splice(0)) await query(server, `drop database ${name} with (force)`)
    },
  }
}

export async function query(url: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

interface CopyConnection {
  stream: Writable
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

// Its types know it only as something to submit.
const Query = pg.Query as unknown as new (
  text: string,
  values: undefined,
  done: (error: Error | null) => void,
) => object

/**
 * COPY … FROM STDIN through node-postgres, which has the protocol's messages but no call for them. `chunks` are rows in
 * COPY's text format, each ended by a line feed; no more of them are held than the connection takes.
 */
export function copyIn(
  client: pg.Client,
  statement: string,
  chunks: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new Query(statement, undefined, error => (error ? reject(error) : resolve()))
    const send = async (connection: CopyConnection) => {
      for await (const chunk of chunks) {
        connection.sendCopyFromChunk(Buffer.from(chunk))
        if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
      }
      connection.endCopyFrom()
    }
    client.query(
      Object.assign(query, {
        handleCopyInResponse: (connection: CopyConnection) => void send(connection).catch(reject),
      }) as unknown as pg.Submittable,
    )
  })
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** One value in COPY's text format. */
export const field = (value: string | null): string =>
  value === null ? '\\N' : value.replace(/[\\\t\n\r]/g, character => ESCAPED[character]!)
