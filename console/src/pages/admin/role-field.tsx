// One of the registered roles, in the forms of users and invitations.
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Field } from '../../ui/index.ts'

export function RoleField({ value }: { value?: string | null | undefined }) {
  const roles = useQuery(
    signal => ok(api.GET('/api/v1/admin/roles', { params: { query: { limit: 500 } }, signal })),
    [],
  )
  // The built-in one cannot be given: it is in a token or it is not.
  const names = (roles.data?.data ?? []).flatMap(({ name, built_in }) => (built_in ? [] : [name]))
  const options = value && !names.includes(value) ? [value, ...names] : names
  return (
    <Field
      label="Role"
      name="role"
      options={options}
      value={value ?? ''}
      help="One of the registered roles."
    />
  )
}
