// The API's words for secrets. None of them is a value that is shown.
import { Type } from 'typebox'
import { Body, Nullable, Time } from '../../kernel/http/schemas.ts'
import { LONGEST_NAME, NAME_PATTERN, PART_PATTERN } from './secret-name.ts'

const LONGEST_VALUE = 16_384

const description = '`part` or `part/part`. `provider_token/<queue>` is the provider token of that queue.'
const Name = Type.String({ maxLength: LONGEST_NAME, pattern: NAME_PATTERN, description })

const Part = Type.String({ maxLength: LONGEST_NAME, pattern: PART_PATTERN })

interface Params {
  group?: string
  name: string
}
export const WholeName = Type.Unsafe<Params>(Type.Object({ name: Name }))
export const NameInTwoParts = Type.Unsafe<Params>(Type.Object({ group: Part, name: Part }))
export const nameIn = ({ group, name }: Params): string => (group === undefined ? name : `${group}/${name}`)

const Value = Type.String({
  minLength: 1,
  maxLength: LONGEST_VALUE,
  writeOnly: true,
  description:
    'Kept as it stands, encrypted, and never shown again. A provider token is ASCII without spaces.',
})
const Description = Nullable(Type.String({ maxLength: 255 }))

export const CreateBody = Body({ name: Name, value: Value, description: Type.Optional(Description) })
export const PutBody = Body({
  value: Value,
  description: Type.Optional({ ...Description, description: 'By default what stands already.' }),
})

export const Secret = Type.Object({
  name: Type.String(),
  version: Type.Integer({ description: 'Counts the values it has had: 1, 2, 3, …' }),
  fingerprint: Type.String({
    description:
      'The same for the same value, and useless for guessing it: it is made with a key of the service.',
  }),
  readable: Type.Boolean({
    description: 'False when it was stored under another `SECRET_KEY`: put it again.',
  }),
  description: Nullable(Type.String()),
  created_at: Time,
  created_by: Type.String(),
  updated_at: Time,
  updated_by: Type.String(),
})
