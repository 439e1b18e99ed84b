// The simulated provider over a generated world, in a process of its own: what it holds is not the service's.
import { createSandboxProvider } from '../../sandbox/provider/server.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { working } from '../process.ts'

export interface Change {
  /** Share of the droplets to change. */
  percent: number
}

export interface Where {
  url: string
}

const world = generated({ droplets: Number(process.env.DROPLETS) })
const { url } = await createSandboxProvider({ seed: world, rateLimits: false }).listen()

working<Change, Where>(async ({ percent }) => {
  if (percent > 0) world.change({ percent })
  return { url }
})
