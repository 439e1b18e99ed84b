// The table of docs/permissions.md, made from the API's description: what each permission is for, and who has use of it.
interface Operation {
  'x-callers': string
  'x-permission'?: string
}

interface Description {
  paths?: Record<string, unknown>
}

const START = '<!-- made by `npm run openapi` -->\n'
const END = '<!-- end -->'

/** What no operation alone needs, but a rule does. */
const RULES = {
  'deployments:operate':
    '`POST /deployments/:id/transition`, also into and out of `past_due` and `suspended`; with `deployments:write` also `billing_action_suspended` and `trial_ends_at`',
}

const BY_ROLE: Record<string, string> = { tenants: 'tenants and operators', operators: 'operators' }

/** The page with the table as it should be. */
export function withPermissionsTable(page: string, description: Description): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)]
  if (start < 0 || end < start) throw new Error('docs/permissions.md has lost the marks of its table')
  return page.slice(0, start) + START + tableOf(description) + page.slice(end)
}

function tableOf({ paths = {} }: Description): string {
  const uses = new Map<string, { who: string; what: string }[]>()
  const admins = new Set<string>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      const what = `\`${method.toUpperCase()} ${path.replace('/api/v1', '').replaceAll(/\{(\w+)\}/g, ':$1')}\``
      const { 'x-callers': who, 'x-permission': permission } = operation
      if (permission) uses.set(permission, [...(uses.get(permission) ?? []), { who, what }])
      else if (who === 'platform_admin') admins.add(`\`${path.split('/').slice(3, 5).join('/')}\``)
    }
  }
  for (const [permission, what] of Object.entries(RULES)) uses.set(permission, [{ who: 'operators', what }])
  const rows = [...uses]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([permission, list]) =>
      Object.entries(Object.groupBy(list, ({ who }) => who)).map(
        ([who, used]) =>
          `| \`${permission}\` | ${BY_ROLE[who]} | ${used!.map(({ what }) => what).join(', ')} |`,
      ),
    )
  const last = `| none | a platform_admin alone | everything under ${[...admins].sort().join(', ')} |`
  return ['| Permission | For | What it permits |', '|---|---|---|', ...rows, last, ''].join('\n')
}
