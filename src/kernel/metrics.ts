// What the service tells Prometheus. Each metric is made here, once, so that this file is the list of them.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'cloudops_' })
  const registers = [registry]
  return {
    registry,
    requests: new Histogram({
      name: 'cloudops_http_request_duration_seconds',
      help: 'Time to answer a request, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    jobs: new Histogram({
      name: 'cloudops_job_duration_seconds',
      help: 'Time a job ran, by queue, job and outcome (completed, failed).',
      labelNames: ['queue', 'job', 'outcome'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900],
      registers,
    }),
    queueJobs: new Gauge({
      name: 'cloudops_queue_jobs',
      help: 'Jobs in a queue by state (ready, deferred, active, failed), as of the queue monitor’s last pass.',
      labelNames: ['queue', 'state'],
      registers,
    }),
    deadLetters: new Gauge({
      name: 'cloudops_dead_letters',
      help: 'Jobs that failed for good and wait for an operator.',
      registers,
    }),
    invoicesToPush: new Gauge({
      name: 'cloudops_invoices_to_push',
      help: 'Ingested invoices that finance does not know as they stand; 0 where no finance service is configured.',
      registers,
    }),
    taskLastSuccess: new Gauge({
      name: 'cloudops_task_last_success_timestamp_seconds',
      help: 'When a scheduled task last completed in this process.',
      labelNames: ['task'],
      registers,
    }),
    inventoryAge: new Gauge({
      name: 'cloudops_inventory_age_seconds',
      help: 'How long ago a kind was last swept whole.',
      labelNames: ['kind'],
      registers,
    }),
    openDrift: new Gauge({
      name: 'cloudops_open_drift',
      help: 'Drift that waits for an operator.',
      registers,
    }),
    openFindings: new Gauge({
      name: 'cloudops_open_findings',
      help: 'Findings that are open and not snoozed, by check.',
      labelNames: ['check'],
      registers,
    }),
    findingsCost: new Gauge({
      name: 'cloudops_open_findings_monthly_cost',
      help: 'What open findings cost a month, by check, in the currency of the list prices (USD). A resource that several checks name is in each.',
      labelNames: ['check'],
      registers,
    }),
    sagasUnderWay: new Gauge({
      name: 'cloudops_sagas_under_way',
      help: 'Runs of workflows by status (pending, running, compensating).',
      labelNames: ['status'],
      registers,
    }),
    sagaRuns: new Counter({
      name: 'cloudops_saga_runs_total',
      help: 'Runs of workflows that ended in this process, by kind and outcome (completed, rolled_back, failed).',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    webhookDeliveries: new Counter({
      name: 'cloudops_webhook_deliveries_total',
      help: 'Attempts to deliver a webhook made by this process, by outcome (delivered, retried, failed).',
      labelNames: ['outcome'],
      registers,
    }),
    webhooksPending: new Gauge({
      name: 'cloudops_webhook_deliveries_pending',
      help: 'Webhook deliveries that are not sent yet, or wait to be tried again.',
      registers,
    }),
    providerRequestsLeft: new Gauge({
      name: 'cloudops_provider_requests_left',
      help: 'Requests the provider still allows this hour, by queue, as it last told this process; queues of one token share them.',
      labelNames: ['queue'],
      registers,
    }),
    lookRequests: new Counter({
      name: 'cloudops_look_requests_total',
      help: 'Requests of this process to look at the provider between the sweeps: actions, single resources, kinds in turn.',
      registers,
    }),
    lookShare: new Gauge({
      name: 'cloudops_look_share',
      help: 'The largest part of the provider’s rate limit, by the hour or the minute, that all processes’ looking has used; 0.25 at most.',
      registers,
    }),
    issuerKeyFetches: new Counter({
      name: 'cloudops_issuer_key_fetches_total',
      help: 'Requests of this process for the keys of the issuer of tokens, by outcome (fetched, failed).',
      labelNames: ['outcome'],
      registers,
    }),
    poolConnections: new Gauge({
      name: 'cloudops_db_pool_connections',
      help: 'Connections of this process’s database pool by state (total, idle, waiting).',
      labelNames: ['state'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
