// The service with an eye on its event loop: how long it was kept from everything else, since it was last asked. Turns
// are counted in processor time of the main thread, so that a busy machine does not show as a slow service, and in time
// as it passes, for whoever wants to see both.
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/serve.ts'

export interface Watched {
  /** The longest turn of the event loop, ms of the main thread's processor time. */
  busyMs: number
  /** The same as time passed: with whatever else the machine did. */
  passedMs: number
  residentBytes: number
}

const { config } = readConfig({ ...process.env, PORT: '0', MANAGEMENT_PORT: '0' })
const { url } = await start(config, { api: true, worker: process.env.WITH_WORKER === 'yes' })

const busy = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let watching = false
let longest = { busyMs: 0, passedMs: 0 }
let last = { busy: 0, passed: 0 }

function turn() {
  const now = { busy: busy(), passed: performance.now() }
  longest = {
    busyMs: Math.max(longest.busyMs, now.busy - last.busy),
    passedMs: Math.max(longest.passedMs, now.passed - last.passed),
  }
  last = now
  if (watching) setImmediate(turn)
}

process.on('message', what => {
  watching = what === 'watch'
  if (watching) {
    longest = { busyMs: 0, passedMs: 0 }
    last = { busy: busy(), passed: performance.now() }
    setImmediate(turn)
  }
  const seen: Watched = { ...longest, residentBytes: process.memoryUsage.rss() }
  process.send?.(seen)
})
process.on('disconnect', () => process.exit(0))
if (!process.connected) process.exit(0)
process.send?.({ url })
