// What both workflows refuse before they begin.
import type { Provider } from '../../integrations/digitalocean/index.ts'
import { invalid, unavailable } from '../../kernel/errors.ts'

export function refuseWithoutProvider({ absent }: Provider): void {
  if (absent) throw unavailable(`Nothing can be provisioned: ${absent}.`)
}

export const unknownDeployment = () =>
  invalid('The inputs are not acceptable.', [
    { pointer: '/inputs/deployment_id', message: 'is not the id of a deployment' },
  ])
