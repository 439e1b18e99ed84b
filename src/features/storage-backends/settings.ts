// Which settings a backend can have: those of its kind, all that it needs, and none that would lead out of its place.
import type { FieldError } from '../../kernel/errors.ts'
import type { BackendKind } from './tables.ts'

export interface Settings {
  kind: BackendKind
  folder?: string
  endpoint?: string
  bucket?: string
  region?: string
  prefix?: string | null
  path_style?: boolean
  access_key_id?: string
  secret_access_key?: string
}

type Name = Exclude<keyof Settings, 'kind'>

const KIND_OF: Record<Name, BackendKind> = {
  folder: 'local',
  endpoint: 's3',
  bucket: 's3',
  region: 's3',
  prefix: 's3',
  path_style: 's3',
  access_key_id: 's3',
  secret_access_key: 's3',
}
const OPTIONAL: readonly Name[] = ['prefix', 'path_style']

/** Named in the path: every service understands that, whatever its certificate and its DNS. */
export const DEFAULT_PATH_STYLE = true

const PATH =
  'must be names of letters, digits, ".", "_" and "-", with "/" between them and no "." or ".." among them'
const PATTERNS: Partial<Record<Name, [RegExp, string]>> = {
  folder: [/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/, PATH],
  prefix: [/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/, PATH],
  bucket: [/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be 3 to 63 small letters, digits, "." and "-"'],
  region: [/^[a-z0-9-]+$/, 'must be small letters, digits and "-", such as us-east-1'],
  access_key_id: [/^[\w.+=@:-]+$/, 'must be letters, digits and any of "_.+=@:-"'],
  secret_access_key: [/^[!-~]+$/, 'must be printable ASCII characters without spaces'],
}

export type EndpointProblem = (endpoint: string, pathStyle: boolean) => string | undefined

/** Everything that is wrong, each with its pointer. */
export function settingsProblems(settings: Settings, endpointProblem: EndpointProblem): FieldError[] {
  return (Object.keys(KIND_OF) as Name[]).flatMap(name => {
    const message = problemOf(name, settings, endpointProblem)
    return message === undefined ? [] : [{ pointer: `/${name}`, message }]
  })
}

function problemOf(name: Name, settings: Settings, endpointProblem: EndpointProblem): string | undefined {
  const value = settings[name] ?? undefined
  const [kind, its] = [settings.kind, KIND_OF[name]]
  if (value === undefined) {
    const needed = kind === its && !OPTIONAL.includes(name)
    return needed ? `is required for kind ${kind}` : undefined
  }
  if (kind !== its) return `is for kind ${its} alone`
  if (name === 'endpoint') return endpointProblem(String(value), settings.path_style ?? DEFAULT_PATH_STYLE)
  const [pattern, message] = PATTERNS[name] ?? []
  return pattern && !pattern.test(String(value)) ? message : undefined
}
