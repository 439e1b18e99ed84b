// Who is signed in, and what they may do. The token is traded for the session cookie and kept nowhere.
import { effect, signal } from '@preact/signals'
import { api, ok, type Problem, refusedSessions, type Schemas } from './api.ts'
import { operations } from './generated/operations.ts'

export type Session = Schemas['Session']
export type OperationId = keyof typeof operations

/** undefined: not known yet; null: nobody. */
export const session = signal<Session | null | undefined>(undefined)
/** The session ended under an open page, which stays as it is until somebody signs in again. */
export const sessionEnded = signal(false)
/** Goes up with each sign-in: queries ask again. */
export const signIns = signal(0)
/** Why the last sign-in failed. */
export const signInProblem = signal<Problem | undefined>(undefined)

/** At the start: the token of a link, or the cookie of an earlier sign-in. */
export async function findSession(): Promise<void> {
  addEventListener('hashchange', () => {
    const token = tokenOfLink()
    if (token) signIn(token)
  })
  const token = tokenOfLink()
  if (token && (await signIn(token))) return
  try {
    session.value = (await ok(api.GET('/api/v1/session'))).data
  } catch (error) {
    session.value = null
    if ((error as Problem).status !== 401) signInProblem.value = error as Problem
  }
}

/** Taken out of the address at once, before anything else can see it or it gets into the history. */
function tokenOfLink(): string | undefined {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token) history.replaceState(history.state, '', location.pathname + location.search)
  return token && decodeURIComponent(token)
}

export async function signIn(token: string): Promise<boolean> {
  signInProblem.value = undefined
  try {
    const headers = { authorization: `Bearer ${token.trim()}` }
    session.value = (await ok(api.POST('/api/v1/session', { headers }))).data
    sessionEnded.value = false
    signIns.value += 1
    return true
  } catch (error) {
    signInProblem.value = error as Problem
    return false
  }
}

export async function signOut(): Promise<void> {
  await ok(api.DELETE('/api/v1/session')).catch((problem: Problem) => {
    // A session that has ended already is what was asked for.
    if (problem.status !== 401) throw problem
  })
  session.value = null
  sessionEnded.value = false
}

effect(() => {
  if (refusedSessions.value > 0 && session.peek()) sessionEnded.value = true
})

/** Whether the caller may do it, or one of several, as far as the console knows; the server decides all the same. */
export const may = (operation: OperationId | OperationId[]): boolean => [operation].flat().some(mayDo)

function mayDo(operation: OperationId): boolean {
  const { value } = session
  if (!value) return false
  const [, , , callers, permission, instead] = operations[operation] as readonly (string | null)[]
  if (value.kind === 'platform_admin') return true
  if (callers === 'platform_admin' || (callers === 'operators' && value.kind === 'member')) return false
  if (!permission || value.permissions.includes(permission)) return true
  return Boolean(instead && value.kind === 'operator' && value.permissions.includes(instead))
}

/** Members see their tenant alone, and need no column or filter for it. */
export const seesAllTenants = (): boolean => session.value?.kind !== 'member'

/** What is the operators' with any tenant's deployment: every move, a trial's end, billing actions. */
export const mayOperate = (): boolean =>
  seesAllTenants() && session.value?.permissions.includes('deployments:operate') === true
