// The service as it runs in production: its real configuration, log and listener, with an eye on its event loop when
// asked. Turns are counted in processor time of the main thread, so that a busy machine does not show as a slow service,
// and in time as it passes, for whoever wants to see both.
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/serve.ts'
import { serving } from '../process.ts'

const { config } = readConfig({ ...process.env, PORT: '0', MANAGEMENT_PORT: '0' })
const { url } = await start(config, { api: true, worker: process.env.WITH_WORKER === 'yes' })

const now = () => {
  const { user, system } = process.threadCpuUsage()
  return { busyMs: (user + system) / 1000, passedMs: performance.now() }
}
let watching = false
let longest = { busyMs: 0, passedMs: 0 }
let last = now()

function turn() {
  const at = now()
  longest = {
    busyMs: Math.max(longest.busyMs, at.busyMs - last.busyMs),
    passedMs: Math.max(longest.passedMs, at.passedMs - last.passedMs),
  }
  last = at
  if (watching) setImmediate(turn)
}

serving(url!, ({ watch = false }) => {
  watching = watch
  if (watch) {
    longest = { busyMs: 0, passedMs: 0 }
    last = now()
    setImmediate(turn)
  }
  return longest
})
