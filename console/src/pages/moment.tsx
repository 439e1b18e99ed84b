// Which moment a page shows: now, or one in the past, by a slider over the time that is known or typed. It is `at` in the
// address, and what is shown of the past cannot be acted on.
import { useId, useState } from 'preact/hooks'
import { scaleOf } from '../moments.ts'
import { filter, setFilters } from '../router.tsx'
import { Time } from '../ui/index.ts'
import { MomentInput } from '../ui/moment-input.tsx'
import '../style/moment.css'

/** The moment shown; undefined: now. */
export const shownMoment = (): string | undefined => filter('at')

/** A link that stays at a moment. */
export const at = (href: string, moment: string | undefined): string =>
  moment ? `${href}${href.includes('?') ? '&' : '?'}at=${encodeURIComponent(moment)}` : href

/** Going through the past is one step of the browser's history. */
const show = (moment: string | undefined) =>
  setFilters({ at: moment }, { replace: moment !== undefined && shownMoment() !== undefined })

const isoOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString())

/** `since`: the first moment that can be asked about; null: there is none yet; undefined: not known yet. */
export function Moment({ since }: { since: string | null | undefined }) {
  const id = useId()
  const moment = shownMoment()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div class={moment ? 'moment past' : 'moment'} role="group" aria-label="Moment shown">
      <Slider since={since ?? undefined} moment={moment} />
      <label class="unseen" for={id}>
        As it was at
      </label>
      <MomentInput id={id} value={moment} onMoment={show} />
      <button type="button" disabled={!moment} onClick={() => show(undefined)}>
        Now
      </button>
      <p role="status">
        {moment ? (
          <>
            <strong>The past:</strong> as it was at <Time at={moment} seconds />. Nothing can be changed
            there.
          </>
        ) : (
          <>As it is now. {since && <>The past is known since {<Time at={since} seconds />}.</>}</>
        )}
      </p>
    </div>
  )
}

function Slider({ since, moment }: { since: string | undefined; moment: string | undefined }) {
  // While it is dragged, the page stays as it is.
  const [dragged, setDragged] = useState<number>()
  const now = Date.now()
  const behindMs = new Date(now).getTimezoneOffset() * 60_000
  const { first, last, positionOf, momentAt } = scaleOf(since ? Date.parse(since) : now, now, behindMs)
  const asked = Date.parse(moment ?? '')
  const position = dragged ?? (Number.isNaN(asked) ? last : positionOf(asked))
  const shown = dragged === undefined ? moment : isoOf(momentAt(dragged))
  return (
    <>
      <input
        type="range"
        aria-label="How far back"
        aria-valuetext={shown && !Number.isNaN(Date.parse(shown)) ? new Date(shown).toLocaleString() : 'now'}
        disabled={!since}
        min={first}
        max={last}
        value={position}
        onInput={event => setDragged(Number(event.currentTarget.value))}
        onChange={event => {
          setDragged(undefined)
          show(isoOf(momentAt(Number(event.currentTarget.value))))
        }}
      />
      <output>{dragged !== undefined && (shown ? <Time at={shown} /> : 'now')}</output>
    </>
  )
}
