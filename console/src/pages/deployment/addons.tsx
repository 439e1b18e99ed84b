// Addons of a subscription: those it has, adding and removing one, each shown before it is made.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { may } from '../../session.tsx'
import { Dialog, Empty, Field, moneyOfMinor, Shown, Table, type Values } from '../../ui/index.ts'
import { counted, useScales } from '../catalog/scales.ts'
import { utc } from '../statement-lines.tsx'
import { ChangeDialog, type Effective } from './change-dialog.tsx'

type Addon = Schemas['SubscriptionAddon']

interface Props {
  deployment: Schemas['DeploymentDetail']
  subscription: Schemas['Subscription']
  done: () => Promise<void>
}

export function Addons({ deployment, subscription, done }: Props) {
  const [removed, setRemoved] = useState<Addon>()
  const { addons, status } = subscription
  useScales()
  if (addons.length === 0) return null
  return (
    <>
      <Table
        label="Addons"
        list={{ rows: addons }}
        id={({ id }) => id}
        empty=""
        columns={[
          { name: 'Addon', cell: ({ code }) => code },
          {
            name: 'Adds',
            cell: ({ qty, resource_kind }) =>
              `${counted(resource_kind, qty)} × ${resource_kind.replaceAll('_', ' ')}`,
          },
          { name: 'Qty', number: true, cell: ({ quantity }) => quantity },
          {
            name: 'Each',
            number: true,
            cell: ({ price_cents, currency }) => moneyOfMinor(price_cents, currency),
          },
          addons.some(({ valid_to }) => valid_to) && {
            name: 'Until (UTC)',
            cell: ({ valid_to }) => valid_to && utc(valid_to),
          },
          may('removeAddon') &&
            status !== 'cancelled' && {
              name: 'Remove',
              cell: addon => (
                <button
                  type="button"
                  class="plain"
                  aria-label={`Remove ${addon.code}`}
                  onClick={() => setRemoved(addon)}
                >
                  Remove
                </button>
              ),
            },
        ]}
      />
      {removed && (
        <RemoveAddon
          addon={removed}
          deployment={deployment}
          done={done}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}

interface RemoveProps extends Pick<Props, 'deployment' | 'done'> {
  addon: Addon
  onClose: () => void
}

function RemoveAddon({ addon, deployment, done, onClose }: RemoveProps) {
  const { code } = addon
  const call = (effective: Effective, preview: boolean) =>
    removeAddon(deployment.id, addon, effective, preview)
  return (
    <ChangeDialog
      title={`Remove ${code} from ${deployment.display_name}`}
      act={`Remove ${code}`}
      done={`${code} is removed`}
      onClose={onClose}
      preview={async (_, effective) => (await call(effective, true))!.data}
      make={async (_, effective) => {
        await call(effective, false)
        await done()
      }}
    />
  )
}

/** One that has not begun never holds. */
export const removeAddon = (
  id: string,
  { id: addon_id }: Pick<Addon, 'id'>,
  effective: Effective,
  preview: boolean,
) =>
  ok(
    api.DELETE('/api/v1/deployments/{id}/addons/{addon_id}', {
      params: { path: { id, addon_id }, query: { ...effective, ...(preview && { preview }) } },
    }),
  )

export function AddAddon(props: Props) {
  const [open, setOpen] = useState(false)
  if (!may('addAddon') || !may('listAddons')) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add addon
      </button>
      {open && <AddDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function AddDialog({ deployment, subscription, done, onClose }: Props & { onClose: () => void }) {
  const { id, display_name } = deployment
  const title = `Add an addon to ${display_name}`
  const { currency } = subscription.plan_version
  const offers = useQuery(
    signal => ok(api.GET('/api/v1/catalog/addons', { params: { query: { limit: 500 } }, signal })),
    [],
  )
  const call = ({ code = '', quantity }: Values, effective: Effective, preview: boolean) =>
    ok(
      api.POST('/api/v1/deployments/{id}/addons', {
        params: { path: { id } },
        body: { code, quantity: Number(quantity ?? 1), ...effective, preview },
        ...(!preview && { headers: once() }),
      }),
    )
  const sold = offers.data?.data.filter(addon => addon.currency === currency)
  if (!sold || sold.length === 0)
    return (
      <Dialog title={title} onClose={onClose}>
        <Shown query={offers}>{() => <Empty>No addon is sold in {currency}.</Empty>}</Shown>
      </Dialog>
    )
  return (
    <ChangeDialog
      title={title}
      act="Add the addon"
      done={`${display_name} has another addon`}
      onClose={onClose}
      preview={async (values, effective) =>
        (await call(values, effective, true)).data as Schemas['MonthPreview']
      }
      make={async (values, effective) => {
        await call(values, effective, false)
        await done()
      }}
    >
      {typed => (
        <>
          <Field
            label="Addon"
            name="code"
            required
            value={typed.code}
            options={sold.map(({ code, name, price_cents }) => ({
              value: code,
              text: `${name}: ${moneyOfMinor(price_cents, currency)} a month`,
            }))}
          />
          <Field
            label="How many"
            name="quantity"
            type="number"
            min={1}
            max={10_000}
            required
            value={typed.quantity ?? '1'}
          />
        </>
      )}
    </ChangeDialog>
  )
}
