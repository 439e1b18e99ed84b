// The service's processes: several for the API, several workers, all on one address of the database. Killed ones are
// started again, as a supervisor would.

import { setTimeout as pause } from 'node:timers/promises'
import type { Owner } from '../../support/lasting.ts'
import { type Service, spawnService, startService, temporaryFolder } from '../../support/process.ts'

export type Role = 'api' | 'worker'

export interface Nodes {
  /** Where the API is answered, dead processes included until their successor is there. */
  urls(): string[]
  /** SIGKILL, and a new one in its place. */
  kill(role: Role, chosen: number): Promise<void>
  /** What the processes logged about a request. */
  logged(requestId: string): string | undefined
  /** Processes that ended although nobody killed them, with their last words. */
  ended: string[]
  /** Processes that gave up while they started: whoever supervises them starts another. */
  failedStarts(): number
  kills: Record<Role, number>
  stop(): Promise<void>
}

interface Slot {
  role: Role
  service: Service
  /** Whether it has ever been. */
  ready: boolean
  /** All that earlier processes of this slot wrote about faults. */
  before: string
}

export async function startNodes(
  owner: Owner,
  { api, workers, env }: { api: number; workers: number; env: Record<string, string> },
): Promise<Nodes> {
  const ends: (() => unknown)[] = []
  const own: Owner = { after: end => void ends.push(end) }
  // Before any of them is ended: who ends then is not started again.
  owner.after(async () => {
    stopping = true
    for (const end of ends.reverse()) await end()
  })
  const dataDir = temporaryFolder(own)
  const ended: string[] = []
  const kills = { api: 0, worker: 0 }
  let stopping = false
  let failedStarts = 0
  const roles: Role[] = [...Array<Role>(api).fill('api'), ...Array<Role>(workers).fill('worker')]
  const watch = (slot: Slot) => {
    const { service } = slot
    service.exited.then(async exit => {
      if (stopping || slot.service !== service) return
      if (slot.ready) ended.push(`${slot.role} ${exit.code ?? exit.signal}: ${service.output().slice(-600)}`)
      else failedStarts++
      await replace(slot)
    })
  }
  const replace = async (slot: Slot) => {
    slot.before += slot.service.output()
    slot.ready = false
    const service = await spawnService(own, { command: slot.role, env, dataDir })
    slot.service = service
    watch(slot)
    void becomesReady(slot, service)
  }
  const becomesReady = async (slot: Slot, service: Service) => {
    while (!slot.ready && slot.service === service && !stopping) {
      await pause(200)
      if (slot.service === service) slot.ready = (await service.ready().catch(() => 0)) === 200
    }
  }
  const slots = await Promise.all(
    roles.map(async (role): Promise<Slot> => {
      return {
        role,
        service: await startService(own, { command: role, env, dataDir }),
        ready: true,
        before: '',
      }
    }),
  )
  for (const slot of slots) watch(slot)
  const of = (role: Role) => slots.filter(slot => slot.role === role)

  return {
    urls: () => of('api').map(({ service }) => service.url),
    async kill(role, chosen) {
      const slot = of(role)[chosen % of(role).length]!
      const { service } = slot
      kills[role]++
      const next = replace(slot)
      await service.kill()
      await next
    },
    logged: requestId =>
      slots
        .flatMap(slot => `${slot.before}\n${slot.service.output()}`.split('\n'))
        .find(line => line.includes(requestId) && line.includes('"err"')),
    ended,
    failedStarts: () => failedStarts,
    kills,
    async stop() {
      stopping = true
      await Promise.all(slots.map(({ service }) => service.stop()))
    },
  }
}
