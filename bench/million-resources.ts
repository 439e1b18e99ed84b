// A million resources in a thousand tenants, put there by the service itself: its first sweep of an account so large.
// Filled once in a run, for every figure that asks.
import type { Bench } from './figure.ts'
import { settle, sweeper } from './sweep.ts'

export const MILLION = 1_000_000
export const TENANTS = 1_000

export const millionResources = ({ filled, say }: Bench): Promise<string> =>
  filled('million-resources', async url => {
    say('filling a database with 1,000,000 droplets in 1,000 tenants; this takes some minutes')
    const worker = sweeper(url, MILLION, { TENANTS: String(TENANTS) })
    const { ms } = await worker.ask({ changePercent: 0 })
    await worker.stop()
    say(`filled: ${(ms / 1000).toFixed(0)} s`)
    await settle(url)
  })
