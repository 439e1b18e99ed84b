// A budget is deleted: its name is typed first.
import { api, ok } from '../../api.ts'
import { announce, Confirm } from '../../ui/index.ts'
import type { Budget } from './budget-bar.tsx'

interface Props {
  budget: Budget
  onClose: () => void
  done: () => unknown
}

export const DeleteBudget = ({ budget: { id, name }, onClose, done }: Props) => (
  <Confirm
    title={`Delete ${name}?`}
    act="Delete"
    name={name}
    onClose={onClose}
    run={async () => {
      await ok(api.DELETE('/api/v1/budgets/{id}', { params: { path: { id } } }))
      announce(`${name} is deleted`)
      await done()
    }}
  >
    <p>With the record of the thresholds that were reached. Nobody is told of it any more.</p>
  </Confirm>
)
