// Loaded before the service: ten nouns are declared with one more field, `extra_field`, as if somebody had added it.
import { registerHooks } from 'node:module'

export const NOUNS = {
  Deployment: 'cloud_deployments',
  Resource: 'cloud_resources',
  Drift: 'cloud_drift',
  SagaRun: 'saga_runs',
  Invoice: 'cloud_invoices',
  Project: 'cloud_projects',
  Addon: 'addons',
  ResourcePrice: 'resource_prices',
  IgnoreRule: 'drift_ignore_rules',
  Webhook: 'webhooks',
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/src/kernel/noun.ts')) return loaded
    const names = JSON.stringify(Object.keys(NOUNS))
    const source = String(loaded.source).replace(
      'const schema = Type.Object(fields,',
      `if (${names}.includes(title)) fields = { ...fields, extra_field: Type.Unsafe({ type: ['string', 'null'] }) } as Fields
  const schema = Type.Object(fields,`,
    )
    if (!source.includes('extra_field')) throw new Error('kernel/noun.ts makes its schemas in another way')
    return { ...loaded, source }
  },
})
