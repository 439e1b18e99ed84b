// Where the figures were made: the machine and the versions that decide them.
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../src/version.ts'
import { query } from './databases.ts'

export interface Surroundings {
  machine: string
  /** Of the last minute: what else the machine was doing. */
  load: number
  versions: Record<string, string>
}

export async function surroundings(server: string): Promise<Surroundings> {
  const [row] = (await query(server, 'show server_version')) as { server_version: string }[]
  const gigabytes = (totalmem() / 2 ** 30).toFixed(1)
  return {
    machine: `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${gigabytes} GiB, ${type()}`,
    load: loadavg()[0]!,
    versions: {
      cloudops: VERSION,
      node: process.versions.node,
      postgresql: row?.server_version ?? 'unknown',
      fastify: packageVersion('fastify'),
      pg: packageVersion('pg'),
      'dbos-sdk': packageVersion('@dbos-inc/dbos-sdk'),
    },
  }
}

function packageVersion(name: string): string {
  const file = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}
