// Writes over the API until the process dies, and what must be there when it is back: whatever was acknowledged.
import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import type { Service } from './process.ts'

const task = '/api/v1/admin/scheduled_tasks/housekeeping'

export interface Written {
  /** Whose pause may stand: the last that was acknowledged, and the one that was under way when the process died. */
  pausedBy: Set<string | null>
  runs: Set<string>
}

/** A platform_admin's token in somebody's name. */
export type Sign = (sub: string) => Promise<string>

export async function everythingIsThere(service: Service, written: Written, sign: Sign): Promise<void> {
  const token = await sign('reader')
  const { body } = await service.call('GET', task, { token })
  assert.ok(written.pausedBy.has(body.data.paused_by), `paused by ${body.data.paused_by}`)
  for (const id of written.runs) {
    const { status } = await service.call('GET', `${task}/runs/${id}`, { token })
    assert.equal(status, 200, `run ${id} is there`)
  }
}

interface Writer {
  /** Resolves when the writer has had so many acknowledged. */
  reached: Promise<void>
  /** Writes until the process dies; how many writes were acknowledged. */
  until(enough: number): Promise<number>
}

function writer(write: (n: number) => Promise<boolean>): Writer {
  const reached = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    async until(enough) {
      let acknowledged = 0
      for (let n = 0; ; n++) {
        try {
          if (await write(n)) acknowledged++
        } catch {
          return acknowledged
        }
        if (acknowledged >= enough) reached.resolve()
      }
    },
  }
}

export function pauseAndResume(service: Service, written: Written, sign: Sign, round: string): Writer {
  return writer(async n => {
    const pausing = n % 2 === 0
    const by = pausing ? `${round}-${n}` : null
    written.pausedBy.add(by)
    const token = await sign(by ?? round)
    const { status, body } = await service.call('POST', `${task}/${pausing ? 'pause' : 'resume'}`, { token })
    assert.equal(status, 200)
    // The first write of a round may meet a pause that the round before left standing; that one stays.
    written.pausedBy = new Set([body.data.paused_by])
    return true
  })
}

export function requestRuns(service: Service, written: Written, sign: Sign): Writer {
  return writer(async () => {
    const token = await sign('requester')
    // The run before may not be done yet, or may have died with its process and not be known to be dead yet.
    const id = await eventually('a run is accepted', async () => {
      const { status, body } = await service.call('POST', `${task}/run`, { token })
      return status === 202 && body.data.id
    })
    written.runs.add(id)
    return true
  })
}
