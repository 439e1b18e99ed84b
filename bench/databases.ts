// Empty databases on the bench's PostgreSQL, and their end.
import { randomBytes } from 'node:crypto'
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
