// The statement that a month would end with, as things stand and with a change, side by side.
import type { Schemas } from '../../api.ts'
import { moneyOfMinor, Scroll } from '../../ui/index.ts'
import { type Line, nameOf, StatementLines, utc } from '../statement-lines.tsx'

type Preview = Schemas['MonthPreview']

interface Side {
  before: number
  after: number
}

/** What each thing costs before and after, whatever parts of the month its lines are about. Pure. */
export function besideEachOther({
  current,
  changed,
}: Pick<Preview, 'current' | 'changed'>): [string, Side][] {
  const rows = new Map<string, Side>()
  const add = (side: keyof Side) => (line: Line) => {
    const row = rows.get(nameOf(line)) ?? { before: 0, after: 0 }
    row[side] += line.amount_cents
    rows.set(nameOf(line), row)
  }
  current.lines.forEach(add('before'))
  changed.lines.forEach(add('after'))
  return [...rows].filter(([, { before, after }]) => before !== 0 || after !== 0)
}

export function MonthPreview(preview: Preview) {
  const { period, currency, current, changed, effective_from, difference_cents } = preview
  const money = (cents: number) => moneyOfMinor(cents, currency)
  const signed = (cents: number) => `${cents > 0 ? '+' : ''}${money(cents)}`
  const label = `What ${period} would end with`
  return (
    <>
      <p>
        From {utc(effective_from)} UTC on, {period} would end with {money(changed.total_cents)} instead of{' '}
        {money(current.total_cents)}, if what lives now lives on.
      </p>
      <Scroll class="table-box" label={label}>
        <table aria-label={label} class="compact">
          <thead>
            <tr>
              <th scope="col">What</th>
              {['Now', 'Then', 'Change'].map(name => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {besideEachOther(preview).map(([name, { before, after }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{money(before)}</td>
                <td class="number">{money(after)}</td>
                <td class="number">{signed(after - before)}</td>
              </tr>
            ))}
            <tr class="total">
              <th scope="row">In all</th>
              <td class="number">{money(current.total_cents)}</td>
              <td class="number">{money(changed.total_cents)}</td>
              <td class="number">{signed(difference_cents)}</td>
            </tr>
          </tbody>
        </table>
      </Scroll>
      <details>
        <summary>Line by line</summary>
        <StatementLines label="Lines with the change" lines={changed.lines} currency={currency} />
      </details>
    </>
  )
}
