// Which roles can be given to a user here: those that are registered. platform_admin comes with the token alone, for
// giving it here would look like a promotion and be none.
import { type AppError, invalid } from '../../kernel/errors.ts'
import { isBuiltIn } from './built-in.ts'

export function refuseBuiltIn(role: string | null | undefined): void {
  if (typeof role === 'string' && isBuiltIn(role)) throw refusedRole('is given by the issuer of tokens alone')
}

export const unknownRole = (): AppError => refusedRole('is not a registered role')

const refusedRole = (message: string) =>
  invalid('The body is not acceptable.', [{ pointer: '/role', message }])
