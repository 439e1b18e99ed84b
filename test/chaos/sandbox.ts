// The simulated provider and finance service as a process of their own.

import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../scripts/free-port.ts'
import type { Owner } from '../support/lasting.ts'
import { launcher, secrets } from '../support/process.ts'

export interface Sandbox {
  providerUrl: string
  financeUrl: string
}

export async function startSandbox(owner: Owner, actionDelayMs: number): Promise<Sandbox> {
  const [provider, finance] = [await freePort(), await freePort()]
  const args = ['sandbox', '--provider-port', String(provider), '--finance-port', String(finance)]
  // The limits are those of the client; the simulated provider itself refuses nobody, so that a run takes seconds.
  args.push('--droplets', '12', '--action-delay', String(actionDelayMs), '--no-rate-limits')
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', LOG_LEVEL: 'warn', ...secrets },
    stdio: 'ignore',
  })
  owner.after(() => void child.kill('SIGKILL'))
  const sandbox = {
    providerUrl: `http://127.0.0.1:${provider}`,
    financeUrl: `http://127.0.0.1:${finance}`,
  }
  for (let look = 0; look < 600; look++) {
    const answer = await fetch(`${sandbox.providerUrl}/__sandbox/state`).catch(() => null)
    if (answer?.ok) return sandbox
    await pause(50)
  }
  throw new Error('the sandbox did not start')
}
