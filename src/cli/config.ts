// cloudops config
import { loadConfig, shown, type VariableName, variables } from '../config.ts'
import { type Command, print, table } from './command.ts'

export const config: Command = {
  usage: '[--json]',
  summary: 'Show the effective configuration, secrets masked.',
  options: { json: { type: 'boolean' } },
  async run({ options }) {
    const loaded = loadConfig({ makeSecrets: false })
    const names = Object.keys(variables) as VariableName[]
    const rows = names.map(name => ({
      name,
      value: shown(name, loaded.config),
      source: loaded.sources[name],
      meaning: variables[name].meaning,
    }))
    if (options.json) return print(JSON.stringify(rows, null, 2))
    print(
      table(
        ['VARIABLE', 'VALUE', 'FROM'],
        rows.map(({ name, value, source }) => [name, value, source]),
      ),
    )
  },
}
