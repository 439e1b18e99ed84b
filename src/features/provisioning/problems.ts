// What the workflows refuse before they begin, for the API's description.
import type { DeclaredProblems } from '../../kernel/http/problems.ts'

export const provisionProblems: DeclaredProblems = {
  409: {
    name_taken: 'A droplet of the deployment has that name.',
    deprovisioning_under_way: 'The deployment’s droplets are being taken away; `saga_id` names the run.',
  },
  422: { deployment_not_provisionable: 'The deployment is not trial, active or past due.' },
}

export const deprovisionProblems: DeclaredProblems = {
  409: {
    provisioning_under_way: 'A droplet is being made for the deployment; `saga_id` names the run.',
    tag_on_other_resources:
      'Resources that are not the deployment’s carry its tag; `resource_ids` names up to 20. Nothing is destroyed.',
  },
}

/** Of both, for whoever starts them by name. */
export const provisioningProblems: DeclaredProblems = {
  409: { ...provisionProblems[409], ...deprovisionProblems[409] },
  422: { ...provisionProblems[422] },
}
