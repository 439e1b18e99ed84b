// SQL that reads the provider's answers as they are mirrored. Anything may stand in them: what is not of the type that is
// documented counts as not said, and never ends a statement.

/** A member that is a number; null otherwise. */
export const numberIn = (member: string, row = 'r'): string => typed(member, 'number', row)

/** A member that is text, as JSON and not too long for evidence; null otherwise. */
export const textIn = (member: string, row = 'r'): string =>
  `case jsonb_typeof(${row}.attrs -> '${member}') when 'string' then to_jsonb(left(${row}.attrs ->> '${member}', 200)) end`

/** How many elements a member that is a list has; none otherwise. */
export const countIn = (member: string, row = 'r'): string =>
  `jsonb_array_length(coalesce(${typed(member, 'array', row)}, '[]'))`

/** That a list is said to hold nothing: it is empty, or null. */
export const saysNone = (member: string, row = 'r'): string =>
  `coalesce(${row}.attrs -> '${member}' in ('[]', 'null'), false)`

/** The first elements of a list, which may hold more than anybody reads. */
export const few = (array: string): string => `jsonb_path_query_array(${array}, '$[0 to 9]')`

const typed = (member: string, type: string, row: string) =>
  `case jsonb_typeof(${row}.attrs -> '${member}') when '${type}' then ${row}.attrs -> '${member}' end`
