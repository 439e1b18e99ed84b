// Every place in the source where a guard keeps a caller to its tenant, and the same text with that guard taken out. It
// looks at words, not at types: a guard with a name of its own is added to the lists below.

export interface Mutant {
  file: string
  line: number
  /** What stands there. */
  was: string
  /** What stands there instead. */
  is: string
  /** The whole file with it. */
  text: string
}

/** Functions that say whether a caller may: they say yes. */
const PREDICATES = [
  'mayActIn',
  'covers',
  'isInScope',
  'mayOperate',
  'seesAllTenants',
  'isPermitted',
  'permits',
]
/** Functions that throw when a caller may not: they are not called. */
const REFUSALS = ['refuseForeignTenant', 'refuseUnpermitted', 'refuseSuspended']

/** Conditions that only spare work, where what they let through is left out afterwards: nobody can see them missing. */
const SPARE_WORK: Record<string, string[]> = {
  'src/features/budgets/cost-store.ts': [
    'd.tenant_id = any($3::text[])',
    'l.tenant_id = any($3::text[])',
    'tenant_id = any($3::text[])',
  ],
  'src/features/metering/cost-repository.ts': [
    `d.tenant_id = any(\${tenantIds}::text[])`,
    `l.tenant_id = any(\${tenantIds}::text[])`,
  ],
}

interface Rule {
  pattern: RegExp
  /** Whether what is found goes on to the end of its argument list. */
  call?: true
  instead: (found: string, match: RegExpExecArray) => string
}

const word = (names: readonly string[]) => `\\b(?:${names.join('|')})\\(`
const PATH = '\\b(?!null\\b|undefined\\b)\\w+(?:[?!]?\\.\\w+)*\\b!?'
const TENANT = '(?:\\b\\w+(?:[?!]?\\.\\w+)*[?!]?\\.)?\\b(?:\\w*T|t)enant(?:_id|Id)?\\b!?'
/** In SQL: a column, a parameter, or what a template puts there. */
const OPERAND =
  '(?:\\$\\{[^{}]*\\}(?:::\\w+)?|\\$\\d+|\\w+\\.\\w+|any\\s?\\([^()]*(?:\\([^()]*\\))?[^()]*\\))'

const RULES: Rule[] = [
  // A scope is that of all tenants, where it is made and where it is handed on.
  { pattern: /\bscopeOf\(/g, call: true, instead: found => `({ ...${found}, allTenants: true })` },
  { pattern: /(?<=[(,]\s*)scope(?=\s*[,)](?!\s*=>|!))/g, instead: () => '({ ...scope, allTenants: true })' },
  { pattern: /\b\w+\.allTenants\b(?! \? '')/g, instead: () => 'true' },
  {
    pattern: /\bkeysWithin\(/g,
    call: true,
    instead: found => `({ ...${found}, userId: ${secondOf(found)}, allTenants: true })`,
  },
  { pattern: new RegExp(word(PREDICATES), 'g'), call: true, instead: () => 'true' },
  { pattern: new RegExp(word(REFUSALS), 'g'), call: true, instead: () => 'undefined' },
  // A caller is taken for one who sees all.
  { pattern: /\b\w+\.(?:platformAdmin|operator)\b(?!\s*=[^=])/g, instead: () => 'true' },
  { pattern: /(?<![.\w])(?:platformAdmin|operator)(?=\s*(?:\?(?!:)|&&|\|\|))/g, instead: () => 'true' },
  // Two tenants are taken for the same.
  {
    pattern: new RegExp(`${TENANT}\\s*===\\s*${PATH}|${PATH}\\s*===\\s*${TENANT}`, 'g'),
    instead: () => 'true',
  },
  {
    pattern: new RegExp(`${TENANT}\\s*!==\\s*${PATH}|${PATH}\\s*!==\\s*${TENANT}`, 'g'),
    instead: () => 'false',
  },
  // The same in SQL; what else the condition names stays there, so that every parameter has its type.
  { pattern: /\binScope\(/g, call: true, instead: found => `(${found} + ' is not null')` },
  {
    pattern: new RegExp(
      `(?<=\\b(?:where|and|or|on)\\s+\\(?|\\()(?:\\w+\\.)?tenant_id (?:=|is not distinct from) ${OPERAND}`,
      'g',
    ),
    instead: found => `(${found} or true)`,
  },
  {
    pattern: new RegExp(`(?<=sql(?:<\\w+>)?\`)(?:\\w+\\.)?tenant_id = ${OPERAND}(?=\`)`, 'g'),
    instead: found => `(${found} or true)`,
  },
  {
    pattern: /\.where\('(?:\w+\.)?tenant_id', '(?:=|in)',/g,
    call: true,
    instead: () => '.$call(query => query)',
  },
  // A route that is not for tenants is; the same for each route is asked of the running app.
  { pattern: /(?<=\bguard: )'(?:platform_admin|operator)'/g, instead: () => "'caller'" },
]

export function mutantsOf(file: string, text: string): Mutant[] {
  const hidden = commentsAndImports(text)
  const mutants = new Map<string, Mutant>()
  for (const { pattern, call, instead } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const from = match.index
      if (hidden.some(([start, end]) => from >= start && from < end)) continue
      const to = call ? endOfCall(text, from + match[0].length - 1) : from + match[0].length
      const was = text.slice(from, to)
      // The declaration of a guard is no use of it.
      if (call && /(?:function|const)\s+$/.test(text.slice(0, from))) continue
      if (SPARE_WORK[file]?.includes(was)) continue
      const is = instead(was, match)
      const line = text.slice(0, from).split('\n').length
      mutants.set(`${from} ${is}`, { file, line, was, is, text: text.slice(0, from) + is + text.slice(to) })
    }
  }
  return [...mutants.values()].sort((a, b) => a.line - b.line)
}

/** One route's guard, whichever way its file spells it: the app gives it another when the route is added. */
export function routeMutant(file: string, text: string, method: string, url: string): Mutant {
  const hook = "app.addHook('onRoute', route => {\n"
  const at = text.indexOf(hook)
  if (at < 0) throw new Error(`${file} has no onRoute hook in which a guard could be changed`)
  const place = at + hook.length
  const is = `if (route.url === '${url}' && String(route.method) === '${method}') route.config = { ...route.config, guard: 'caller' }\n`
  const line = text.slice(0, place).split('\n').length
  return {
    file,
    line,
    was: `${method} ${url}`,
    is: "guard: 'caller'",
    text: text.slice(0, place) + is + text.slice(place),
  }
}

const secondOf = (call: string): string => call.slice(call.indexOf(',') + 1, -1).trim()

/** The place after the bracket that closes the one at `open`. */
function endOfCall(text: string, open: number): number {
  let at = text.lastIndexOf('(', open)
  for (let depth = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    else if (text[at] === ')' && --depth === 0) return at + 1
  }
  throw new Error('a call does not end')
}

/** Where words are not code. */
function commentsAndImports(text: string): [number, number][] {
  const found = text.matchAll(/^\s*\/\/.*$|\/\*[\s\S]*?\*\/|^(?:import|export) [^=]*? from .*$|\s\/\/ .*$/gm)
  return [...found].map(match => [match.index, match.index + match[0].length])
}
