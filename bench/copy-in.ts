// COPY … FROM STDIN through node-postgres, which has the protocol's messages but no call for them.
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import pg from 'pg'

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

/** `chunks` are rows in COPY's text format, each ended by a line feed. */
export function copyIn(client: pg.Client, statement: string, chunks: Iterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new Query(statement, undefined, error => (error ? reject(error) : resolve()))
    client.query(
      Object.assign(query, {
        handleCopyInResponse(connection: CopyConnection) {
          for (const chunk of chunks) connection.sendCopyFromChunk(Buffer.from(chunk))
          connection.endCopyFrom()
        },
      }) as unknown as pg.Submittable,
    )
  })
}

/** The same for chunks that come by and by; no more of them are held than the connection takes. */
export function copyInAsync(
  client: pg.Client,
  statement: string,
  chunks: AsyncIterable<string>,
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
