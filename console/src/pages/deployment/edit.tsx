// What of a deployment can be changed: its name and template, and for operators whether bills that are not paid have
// consequences.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { may, mayOperate } from '../../session.tsx'
import { ActButton, announce, Confirm, Dialog, Field, Form, Time } from '../../ui/index.ts'

type Deployment = Schemas['DeploymentDetail']

interface Props {
  deployment: Deployment
  done: () => Promise<void>
}

const patch = (
  { id }: Pick<Deployment, 'id'>,
  body: Partial<Pick<Deployment, 'display_name' | 'template_code' | 'template_version'>> &
    Partial<Pick<Deployment, 'billing_action_suspended' | 'billing_action_suspended_reason'>>,
) => ok(api.PATCH('/api/v1/deployments/{id}', { params: { path: { id } }, body }))

export function EditDeployment({ deployment, done }: Props) {
  const [open, setOpen] = useState(false)
  if (!may('changeDeployment')) return null
  const { display_name: name, template_code, template_version } = deployment
  const close = () => setOpen(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Edit
      </button>
      {open && (
        <Dialog title={`Edit ${name}`} onClose={close}>
          <Form
            submit="Save"
            cancel={close}
            send={async values => {
              const cleared = { template_code: null, template_version: null }
              await patch(deployment, { ...cleared, ...values })
              await done()
            }}
            done={close}
          >
            <Field label="Name" name="display_name" required maxLength={255} value={name} />
            <Field label="Template" name="template_code" maxLength={128} value={template_code ?? undefined} />
            <Field
              label="Version of the template"
              name="template_version"
              maxLength={128}
              value={template_version ?? undefined}
            />
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Holding off what an unpaid bill leads to: `past_due` and `suspended`. */
export function BillingActions({ deployment, done }: Props) {
  const [open, setOpen] = useState(false)
  const {
    billing_action_suspended: held,
    billing_action_suspended_by: by,
    billing_action_suspended_at: at,
    billing_action_suspended_reason: reason,
  } = deployment
  const operates = mayOperate()
  if (!held && !operates) return null
  return (
    <>
      <h3>Billing actions</h3>
      {held ? (
        <p>
          Held off by {by} since <Time at={at} />
          {reason && <>: {reason}</>}. Until that is lifted it does not become past due or suspended.
        </p>
      ) : (
        <p class="quiet">An unpaid bill may make it past due or suspended.</p>
      )}
      {operates &&
        (held ? (
          <ActButton
            operation="changeDeployment"
            done="Billing actions are allowed again"
            run={async () => {
              await patch(deployment, { billing_action_suspended: false })
              await done()
            }}
          >
            Allow again
          </ActButton>
        ) : (
          may('changeDeployment') && (
            <button type="button" onClick={() => setOpen(true)}>
              Hold off
            </button>
          )
        ))}
      {open && (
        <Confirm
          title="Hold billing actions off"
          act="Hold off"
          onClose={() => setOpen(false)}
          run={async ({ reason }) => {
            await patch(deployment, {
              billing_action_suspended: true,
              ...(reason && { billing_action_suspended_reason: reason }),
            })
            announce('Billing actions are held off')
            await done()
          }}
        >
          <p>While they are held off, nothing moves {deployment.display_name} to past due or suspended.</p>
          <Field label="Reason" name="reason" type="textarea" maxLength={1000} />
        </Confirm>
      )}
    </>
  )
}
