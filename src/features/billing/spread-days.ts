// SQL that gives each day of a line's time its part of the line's amount: by the time, with the largest remainders rounded up
// and the earlier day first, so that a line's days add up to the line.

/** Milliseconds of a day. */
const DAY = 86_400_000

/** Exact amounts are told to this many decimals at least; one with more keeps its own. */
const DECIMALS = 6

const ms = (time: string) => `(extract(epoch from ${time}) * 1000)`

/**
 * A line's time within its month, in milliseconds: all of the month where the file does not say. What lies outside is cut
 * off, for the days of a month add up to its invoice; what lies outside altogether is on the nearest day.
 */
const WITHIN_MONTH = `
  select least(greatest(coalesce(${ms('l.start_at')} - ${ms('l.period')}, 0), 0), m.length) as f,
    least(greatest(coalesce(${ms('l.end_at')} - ${ms('l.period')}, m.length), 0), m.length) as t, m.length
  from (select ${ms(`(l.period + interval '1 month')`)} - ${ms('l.period')} as length) m`

/**
 * The first day and the last, counted from 0, how many lie between, and the milliseconds of the first day, of the last and
 * of all. A line of one day has another after it with nothing on it, and so is like any other.
 */
const DAYS = `
  select i0, i1, n, case when i0 = i1 then 1 else (i0 + 1) * ${DAY} - f end as a, case when i0 = i1 then 0 else t - i1 * ${DAY} end as b,
    case when i0 = i1 then 1 else t - f end as s
  from (select f, t, i0, i1, greatest(i1 - i0 - 1, 0) as n from (
    select f, t, least(div(f, ${DAY}), div(length, ${DAY}) - 1) as i0,
      least(case when t > f then div(t - 1, ${DAY}) else div(f, ${DAY}) end, div(length, ${DAY}) - 1) as i1
    from (${WITHIN_MONTH}) w) i) d`

/**
 * The parts of a whole number: of the first day, of each day between and of the last, and how many of those between get one
 * more. The days between are all as long, so that their remainders are the same: that leaves three to be compared.
 */
const partsOf = (whole: string) => `
  select a0 + (k > case when rf > ra then n else 0 end + (rb > ra)::int)::int as a, f0 as f,
    b0 + (k > (ra >= rb)::int + case when rf >= rb then n else 0 end)::int as b,
    least(greatest(k - (ra >= rf)::int - (rb > rf)::int, 0), n) as x
  from (
    select *, v - a0 - d.n * f0 - b0 as k from (
      select v, div(v * d.a, d.s) as a0, div(v * ${DAY}, d.s) * (d.n > 0)::int as f0, div(v * d.b, d.s) as b0,
        mod(v * d.a, d.s) as ra, mod(v * ${DAY}, d.s) as rf, mod(v * d.b, d.s) as rb
      from (select ${whole} as v) v) r) k`

/**
 * Of the relation `lines` (an alias `l` of it has period, start_at, end_at, amount, amount_minor, is_tax and whatever is in
 * `group`): rows of `group`, period (a day), lines, amount, amount_minor and tax_minor. A line is on each day of its time.
 *
 * A line is not written out day by day, which would be thirty rows for each: it adds to a day where its part changes, and
 * the sums of a group are carried on from there to the next day with a change.
 */
export const dailyOf = (lines: string, group: readonly string[], from: string, to: string): string => {
  const keys = group.join(', ')
  const sums = ['lines', 'amount', 'amount_minor', 'tax_minor']
  return `
    select ${keys}, greatest(on_day, ${from}) + later as period, lines, amount, amount_minor, tax_minor
    from (
      select *, lead(on_day, 1, 'infinity') over (partition by ${keys} order by on_day) as next_day from (
        select ${keys}, on_day, ${sums.map(sum => `(sum(${sum}) over (partition by ${keys} order by on_day))${sum === 'amount' ? '' : '::bigint'} as ${sum}`).join(', ')}
        from (
          select ${keys}, l.period + e.day::int as on_day, sum(e.lines) as lines, sum(e.amount * u.unit) as amount,
            sum(e.minor * u.sign) as amount_minor, coalesce(sum(e.minor * u.sign) filter (where l.is_tax), 0) as tax_minor
          from ${lines} l
          cross join lateral (${DAYS} offset 0) d
          cross join lateral (
            select case when l.amount_minor < 0 then -1 else 1 end as sign, case when l.amount < 0 then -1 else 1 end * unit as unit,
              case when scale(unit) = ${DECIMALS} then 1e${DECIMALS} else ('1e' || scale(unit))::numeric end as units
            from (select case when scale(l.amount) <= ${DECIMALS} then 1e-${DECIMALS}
              else ('1e-' || scale(l.amount))::numeric end as unit offset 0) one offset 0) u
          cross join lateral (${partsOf('trunc(abs(l.amount) * u.units)')} offset 0) p
          cross join lateral (${partsOf('abs(l.amount_minor)::numeric')} offset 0) c
          cross join lateral (values
            (d.i0, 1, p.a, c.a), (d.i0 + 1, 0, p.f - p.a + 1, c.f - c.a + 1), (d.i0 + 1 + p.x, 0, -1, 0), (d.i0 + 1 + c.x, 0, 0, -1),
            (greatest(d.i1, d.i0 + 1), 0, p.b - p.f, c.b - c.f), (d.i1 + 1, -1, 0, 0), (greatest(d.i1, d.i0 + 1) + 1, 0, -p.b, -c.b)
          ) e (day, lines, amount, minor)
          group by ${keys}, on_day
        ) changes
      ) carried
    ) steps
    cross join lateral generate_series(0, least(next_day - 1, ${to}) - greatest(on_day, ${from})) days (later)
    where lines > 0`
}
