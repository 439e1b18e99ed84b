// The faults of chaos:sweeps once more, at the simulated provider: about one of eight reads meets one, whatever it reads.
import type { FaultSpec } from '../../../sandbox/provider/faults.ts'
import type { SandboxProvider } from '../../../sandbox/provider/server.ts'

type Fault = FaultSpec & { times: number; after: number }

const FAULTS: ((random: () => number) => FaultSpec)[] = [
  () => ({ fault: 'server_error', status: 500 }),
  () => ({ fault: 'server_error', status: 503 }),
  () => ({ fault: 'server_error', status: 403 }),
  // Not `not_found`, which says that there is none.
  () => ({ fault: 'server_error', status: 404, id: 'gone' }),
  () => ({ fault: 'server_error', status: 302, id: 'elsewhere' }),
  random => ({ fault: 'too_many_requests', seconds: 1 + Math.floor(random() * 3) }),
  () => ({ fault: 'too_many_requests', retry_after: 'none' }),
  () => ({ fault: 'connection_reset' }),
  random => ({ fault: 'cut_json', keep: random() }),
  () => ({ fault: 'html' }),
  () => ({ fault: 'empty_body' }),
  () => ({ fault: 'slow_bytes', chunk_bytes: 4_096, every_ms: 50 }),
  () => ({ fault: 'repeat_page' }),
  () => ({ fault: 'loop_pages' }),
  random => ({ fault: 'wrong_total', by: random() < 0.5 ? 1 : -1 }),
  () => ({ fault: 'missing_fields' }),
  random => ({ fault: 'shift_pages', change: random() < 0.5 ? 'insert' : 'remove' }),
]

/** Some take real time, which a trial that is driven by hand does not have. */
const takesTime = (fault: FaultSpec) =>
  fault.fault === 'slow_bytes' || (fault.fault === 'too_many_requests' && fault.retry_after !== 'none')

function anyFault(random: () => number, when: When): Fault {
  const fault = FAULTS[Math.floor(random() * FAULTS.length)]!(random)
  if (when === 'at once' && takesTime(fault)) return anyFault(random, when)
  const times = 1 + Math.floor(random() * 3)
  // In a trial by hand few requests are made between two of them.
  const after = Math.floor(random() * (when === 'at once' ? 4 : 28))
  return { ...fault, match: { method: 'GET', path: '/v2/*' }, times, after }
}

type When = 'in time' | 'at once'

/** Faults without end, one after the other. */
export function startFaults({ faults }: SandboxProvider, random: () => number, when: When = 'in time') {
  let [planned, met] = [0, 0]
  return {
    /** Plans the next when the last has been met. */
    goOn() {
      const [last] = faults.list()
      if (last && last.met < (last.spec.times as number)) return
      this.end()
      faults.add(anyFault(random, when))
      planned += 1
    },
    end() {
      met += faults.list().reduce((sum, fault) => sum + fault.met, 0)
      faults.clear()
    },
    count: () => ({ planned, met }),
  }
}
