// SQL that gives each day of a line's time its part of the line's amount, by the time, so that a line's days add up to the
// line: in cents with the largest remainders rounded up and the earlier day first, in exact amounts to six decimals, with
// what that leaves over on the last day.

/** Milliseconds of a day. */
const DAY = 86_400_000
const DECIMALS = 6

const ms = (time: string) => `(extract(epoch from ${time}) * 1000)::bigint`

/** One thing worked out after the other. The fence keeps the planner from working each out wherever it is used. */
const then = (relation: string, columns: string) => `(select *, ${columns} from ${relation} step offset 0)`

/**
 * Lines with the first day of their time and the last, counted from 0, how many lie between, and the milliseconds of
 * the first, of each between, of the last and of all. The time is cut to the month of the line's invoice, whose days are to add up to it; what lies
 * outside altogether is on the nearest day. A line without times has the whole month.
 */
const withDays = (lines: string) => {
  const within = (time: string, otherwise: string) =>
    `least(greatest(coalesce(${ms(time)} - ${ms('period')}, ${otherwise}), 0), days * ${DAY})`
  const days = then(lines, `((period + interval '1 month')::date - period)::bigint as days`)
  const times = then(days, `${within('start_at', '0')} as f, ${within('end_at', `days * ${DAY}`)} as t`)
  const ends = then(
    times,
    `least(f / ${DAY}, days - 1) as i0, least(case when t > f then (t - 1) / ${DAY} else f / ${DAY} end, days - 1) as i1`,
  )
  // All of a single day's time is on that day, however short.
  return then(
    ends,
    `greatest(i1 - i0 - 1, 0) as n, case when i1 > i0 + 1 then ${DAY} else 0 end as d, case when i0 = i1 then 1 else (i0 + 1) * ${DAY} - f end as a,
      case when i0 = i1 then 0 else t - i1 * ${DAY} end as b, case when i0 = i1 then 1 else t - f end as s`,
  )
}

/**
 * The parts of the cents: of the first day, of each day between and of the last, and how many of those between get one more.
 * The days between are all as long, so that their remainders are the same: that leaves three to be compared.
 */
const withCents = (lines: string) => {
  const size = then(lines, `abs(amount_minor) as v, case when amount_minor < 0 then -1 else 1 end as sign`)
  // v * x / s and what it leaves, in two steps: a product of the whole cents could be more than a bigint holds.
  const halves = then(size, 'v / s as q, v % s as r')
  const part = (name: string, length: string | number) =>
    `q * ${length} + r * ${length} / s as ${name}0, r * ${length} % s as r${name}`
  const down = then(halves, [part('a', 'a'), part('f', `d`), part('b', 'b')].join(', '))
  const left = then(down, 'v - a0 - n * f0 - b0 as k')
  return then(
    left,
    `sign * (a0 + (k > case when rf > ra then n else 0 end + (rb > ra)::int)::int) as cents_a, sign * f0 as cents_f,
      sign * (b0 + (k > (ra >= rb)::int + case when rf >= rb then n else 0 end)::int) as cents_b,
      least(greatest(k - (ra >= rf)::int - (rb > rf)::int, 0), n) as more`,
  )
}

const withAmounts = (lines: string) =>
  then(
    then(
      lines,
      `case when i0 = i1 then amount else trunc(amount * a / s, ${DECIMALS}) end as amount_a,
        case when n > 0 then trunc(amount * d / s, ${DECIMALS}) else 0 end as amount_f`,
    ),
    'amount - amount_a - n * amount_f as amount_b',
  )

/**
 * Of lines with period, start_at, end_at, amount, amount_minor, is_tax and what is in `group`: rows of `group`, period (a
 * day), lines, amount, amount_minor and tax_minor. A line is on each day of its time.
 *
 * A line is not written out day by day, which would be thirty rows for each: lines with the same days are added up, they add
 * to the days where their parts change, and the sums of a group are carried on from there to the next day with a change.
 */
export const dailyOf = (lines: string, group: readonly string[], from: string, to: string): string => {
  const keys = group.join(', ')
  const carried = (sum: string, type: string) =>
    `(sum(${sum}) over (partition by ${keys} order by on_day))::${type} as ${sum}`
  return `
    select ${keys}, greatest(on_day, ${from}) + later as period, lines, amount, amount_minor, tax_minor
    from (
      select ${keys}, on_day, lead(on_day, 1, 'infinity') over (partition by ${keys} order by on_day) as next_day,
        ${carried('lines', 'bigint')}, ${carried('amount', 'numeric')}, ${carried('amount_minor', 'bigint')}, ${carried('tax_minor', 'bigint')}
      from (
        select ${keys}, period + e.day::int as on_day, sum(e.lines) as lines, sum(e.amount) as amount, sum(e.cents) as amount_minor,
          coalesce(sum(e.cents) filter (where is_tax), 0) as tax_minor
        from (
          select ${keys}, period, is_tax, i0, i1, more, count(*) as lines, sum(sign) as one,
            ${['amount_a', 'amount_f', 'amount_b', 'cents_a', 'cents_f', 'cents_b'].map(sum => `sum(${sum}) as ${sum}`).join(', ')}
          from ${withAmounts(withCents(withDays(lines)))} l
          group by ${keys}, period, is_tax, i0, i1, more
        ) l
        cross join lateral (values
          (i0, l.lines, amount_a, cents_a),
          (i0 + 1, 0, amount_f - amount_a, cents_f - cents_a + one),
          (i0 + 1 + more, 0, 0, -one),
          (greatest(i1, i0 + 1), 0, amount_b - amount_f, cents_b - cents_f),
          (greatest(i1, i0 + 1) + 1, 0, -amount_b, -cents_b),
          (i1 + 1, -l.lines, 0, 0)
        ) e (day, lines, amount, cents)
        group by ${keys}, on_day
      ) changes
    ) steps
    cross join lateral generate_series(0, least(next_day - 1, ${to}) - greatest(on_day, ${from})) days (later)
    where lines > 0`
}
