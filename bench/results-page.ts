// bench/RESULTS.md: ratios first, for they hold from machine to machine; the figures behind them do not.
import { barInWords, type Result } from './figure.ts'
import type { Surroundings } from './machine.ts'

export function resultsPage(results: Result[], { machine, load, versions }: Surroundings, at: Date): string {
  const missed = results.filter(result => !result.met).length
  return [
    '# Bench results',
    '',
    'Written by `npm run bench`; each figure and its peer are measured in the same run. Ratios hold from machine to machine, the figures behind them do not.',
    '',
    missed === 0 ? 'Every bar is met.' : `**${missed} of ${results.length} bars missed.**`,
    '',
    `| Figure | Ratio (ours ÷ peer) | Bar | Met | Ours | Peer | Unit |`,
    '|---|---:|---:|---|---:|---:|---|',
    ...results.map(row),
    '',
    '![Cost of one row against the number of rows](cost-by-size.svg)',
    '',
    '## Where',
    '',
    `- Machine: ${machine}; load average before the run ${load.toFixed(1)}`,
    `- Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `- Date: ${at.toISOString().slice(0, 10)}`,
    ...results.flatMap(part),
    '',
  ].join('\n')
}

const row = ({ figure, ratio, met, ours, peer }: Result): string =>
  `| [${figure.name}](#${figure.name}) | **${ratio.toFixed(2)}** | ${barInWords(figure)} | ${met ? 'yes' : '**NO**'} | ${shown(ours)} | ${shown(peer)} | ${figure.unit} |`

const part = ({ figure, details }: Result): string[] => [
  '',
  `## ${figure.name}`,
  '',
  `Ours: ${figure.measures}`,
  '',
  `Peer: ${figure.peer}`,
  '',
  ...details,
]

/** Three digits that mean something, and no false precision. */
const shown = (value: number): string =>
  value.toLocaleString('en-US', value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
