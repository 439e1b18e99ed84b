// The way in: a pasted token, on a page of its own or over a page whose session has ended.
import { useId, useRef, useState } from 'preact/hooks'
import { sessionEnded, signIn, signInProblem } from './session.tsx'
import { Dialog } from './ui/dialog.tsx'
import { ProblemBanner } from './ui/problem.tsx'

function TokenForm() {
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const done = await signIn(field.current!.value)
    setBusy(false)
    if (!done) field.current?.select()
  }
  return (
    <form onSubmit={submit}>
      <div class="field">
        <label for={id}>Token</label>
        <input ref={field} id={id} type="password" autocomplete="off" required spellcheck={false} />
        <p class="quiet">It is traded for a session cookie and kept nowhere. An API key starts no session.</p>
      </div>
      {signInProblem.value && <ProblemBanner problem={signInProblem.value} />}
      <footer>
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
      </footer>
    </form>
  )
}

export const SignIn = () => (
  <main class="sign-in">
    <h1>Cloud Operations</h1>
    <p>
      Paste a token, or open a link that ends in <code>#token=…</code>. For development{' '}
      <code>npx cloudops token</code> makes one.
    </p>
    <TokenForm />
  </main>
)

/** The page under it stays as it is, with everything typed into it. */
export function SessionEnded() {
  if (!sessionEnded.value) return null
  return (
    <Dialog title="Your session has ended" onClose={() => (sessionEnded.value = false)}>
      <p>Sign in again to go on where you were. Nothing on the page is lost.</p>
      <TokenForm />
    </Dialog>
  )
}
