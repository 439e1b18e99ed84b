// Made from the migrated schema by `npm run db:types`; not edited by hand.
import type { ColumnType, Generated } from 'kysely'

export interface GeneratedTables {
  action_feed: {
    provider: string
    newest_id: number | null
    followed_at: string | null
    claimed_at: string | null
    error: string | null
  }
  addons: {
    id: string
    code: string
    name: string
    resource_kind: string
    qty: number
    price_cents: number
    currency: string
    created_at: string
    updated_at: string
  }
  api_keys: {
    id: string
    user_id: string
    tenant_id: string | null
    roles: string[]
    key_prefix: string
    key_hash: string
    description: string | null
    replaces: string | null
    created_at: string
    created_by: string
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
    revoked_by: string | null
    revoked_reason: string | null
    owner_tenant: string | null
    owner_roles: string[] | null
    owner_token_at: string | null
  }
  audit_checkpoints: {
    number: number
    seq: number
    hash: string
    at: string
    unkeyed: number
    previous: string
    key_id: string
    signature: string
    published_at: string | null
  }
  audit_log: {
    id: string
    at: string
    actor: string
    actor_role: string | null
    actor_tenant_id: string | null
    request_id: string
    operation: string
    subject_type: string
    subject_id: string
    tenant_id: string | null
    action: string
    before: unknown
    after: unknown
    credential_kind: string | null
    credential_id: string | null
    address: string | null
    client_request_id: string | null
  }
  audit_seals: {
    seq: number
    entry_id: string
    hash: string
    key_id: string | null
    mac: string | null
    checkpoint: number | null
  }
  audit_unkeyed: {
    entries: number
    newest: string | null
  }
  budget_alerts: {
    id: string
    budget_id: string
    period: string
    revision: number
    basis: string
    percent: number
    amount_minor: number
    reached_minor: string
    currency: string
    reached_at: string
  }
  budget_looks: {
    budget_id: string
    period: string
    actual_minor: string
    forecast_minor: string | null
    estimated: boolean
    other_currencies: unknown
    looked_at: string
  }
  budgets: {
    id: string
    name: string
    tenant_id: string | null
    deployment_id: string | null
    measure: string
    amount_minor: number
    currency: string
    thresholds: unknown
    revision: Generated<number>
    created_by: string
    created_at: string
    updated_at: string
  }
  closed_months: {
    period: string
    closed_at: string
  }
  cloud_accounts: {
    provider: string
    account_id: string
    name: string | null
    recorded_at: string
  }
  cloud_balance_snapshots: {
    id: string
    provider: string
    month_to_date_balance: string
    account_balance: string
    month_to_date_usage: string
    currency: string
    generated_at: string
    recorded_at: string
  }
  cloud_cost_lines: {
    id: string
    invoice_id: string
    period: string
    line_number: number
    product: string
    group_description: string | null
    description: string
    kind: string
    name: string | null
    hours: string | null
    start_at: string | null
    end_at: string | null
    amount: string
    amount_minor: number
    currency: string
    project_name: string | null
    category: string | null
    is_tax: boolean
    tax_flagged: boolean
    extra: unknown
    resource_id: string | null
    deployment_id: string | null
    tenant_id: string | null
    matched_by: string | null
    matched: ColumnType<boolean, never, never>
  }
  cloud_deployment_events: {
    id: string
    deployment_id: string
    from_state: string
    to_state: string
    actor: string
    actor_role: string | null
    reason: string | null
    created_at: string
  }
  cloud_deployments: {
    id: string
    tenant_id: string
    slug: string
    display_name: string
    region: string
    state: string
    llm_mode: string
    billing_action_suspended: Generated<boolean>
    template_code: string | null
    template_version: string | null
    created_at: string
    updated_at: string
    billing_action_suspended_by: string | null
    billing_action_suspended_at: string | null
    billing_action_suspended_reason: string | null
  }
  cloud_drift: {
    id: string
    resource_id: string
    kind: string
    field: string
    desired: unknown
    actual: unknown
    status: string
    detected_at: string
    last_detected_at: string
    resolved_at: string | null
    resolved_by: string | null
    tenant_id: string | null
    action: unknown
  }
  cloud_drift_ignored: {
    id: string
    resource_id: string
    kind: string
    field: string
    desired: unknown
    actual: unknown
    rule_id: string
    detected_at: string
    last_detected_at: string
  }
  cloud_invoices: {
    id: string
    provider: string
    invoice_uuid: string
    invoice_number: string | null
    period: string
    amount: string
    currency: string
    ingest_status: Generated<string>
    ingest_error: string | null
    ingest_count: Generated<number>
    ingested_at: string | null
    line_count: number | null
    lines_amount: string | null
    amount_net_minor: number | null
    amount_tax_minor: number | null
    reconciled: boolean | null
    sha256: string | null
    lines_hash: string | null
    created_at: string
    updated_at: string
    pushed_to_finance_at: string | null
    finance_invoice_id: string | null
    finance_action: string | null
    pushed_lines_hash: string | null
    finance_error: string | null
    push_count: Generated<number>
    awaits_file: Generated<boolean>
  }
  cloud_line_assignments: {
    invoice_id: string
    line_key: string
    occurrence: number
    resource_id: string | null
    deployment_id: string | null
    tenant_id: string | null
    assigned_by: string
    assigned_at: string
  }
  cloud_project_members: {
    provider: string
    kind: string
    provider_id: string
    project_id: string
    placed_at: string | null
    placed_look: number | null
  }
  cloud_projects: {
    id: string
    provider: string
    provider_id: string
    name: string
    description: string | null
    is_default: boolean
    tenant_id: string | null
    purpose: string
    first_seen_at: string
    last_seen_at: string
    stale_strike_count: Generated<number>
    deleted_at: string | null
    last_look: Generated<number>
  }
  cloud_provisioned: {
    resource_id: string
    spec: unknown
    spec_version: Generated<number>
    saga_id: string | null
    created_at: string
    updated_at: string
    attributes: ColumnType<unknown, never, never>
    singles: ColumnType<unknown, never, never>
    tags: ColumnType<string[] | null, never, never>
    tenant_id: string | null
  }
  cloud_resource_events: {
    id: string
    resource_id: string
    kind: string
    changes: unknown
    actor: string
    created_at: string
    tenant_id: string | null
    action: unknown
  }
  cloud_resources: {
    id: string
    provider: string
    provider_id: string
    kind: string
    name: string
    region: string | null
    status: string | null
    tenant_id: string | null
    project_id: string | null
    deployment_id: string | null
    tags: string[]
    attrs: unknown
    fingerprint: string
    first_seen_at: string
    last_seen_at: string
    stale_strike_count: Generated<number>
    deleted_at: string | null
    last_look: Generated<number>
    assigned_deployment_id: string | null
    missing_since: string | null
  }
  cloud_size_prices: {
    provider: string
    slug: string
    valid_from: string
    valid_to: string | null
    price_monthly: string
    price_hourly: string
    currency: string
  }
  cloud_sizes: {
    provider: string
    slug: string
    description: string | null
    vcpus: number
    memory_mb: number
    disk_gb: number
    transfer_tb: string
    price_monthly: string
    price_hourly: string
    currency: string
    regions: string[]
    available: boolean
    first_seen_at: string
    last_seen_at: string
  }
  cost_estimate_lines: {
    id: string
    period: string
    kind: string
    name: string | null
    resource_id: string | null
    deployment_id: string | null
    tenant_id: string | null
    project_name: string | null
    sku: string | null
    quantity: string | null
    price_monthly: string | null
    start_at: string | null
    end_at: string | null
    amount: string
    amount_minor: number
    month_minor: number
    currency: string
  }
  cost_estimates: {
    id: string
    period: string
    day: string
    made_at: string
    as_of: string
    currency: string
    usage_amount: string | null
    listed_minor: number
    amount_minor: number
    month_minor: number
  }
  drift_ignore_rules: {
    id: string
    kind: string | null
    resource_id: string | null
    field: string
    reason: string
    expires_at: string | null
    created_by: string
    created_at: string
  }
  finding_checks: {
    check_name: string
    found_at: string | null
    failed_at: string | null
    error: string | null
  }
  findings: {
    id: string
    check_name: string
    subject: string
    resource_id: string | null
    tenant_id: string | null
    deployment_id: string | null
    since: string
    evidence: unknown
    monthly_cost: string
    monthly_cost_minor: number
    currency: string
    cost_source: string | null
    opened_at: string
    last_found_at: string | null
    closed_at: string | null
    snoozed_until: string | null
    snooze_reason: string | null
    snoozed_by: string | null
  }
  idempotency_keys: {
    caller: string
    key: string
    request_hash: string
    claim: string
    started_at: string
    finished_at: string | null
    status: number | null
    answer: string | null
  }
  invitations: {
    id: string
    email: string
    tenant_id: string
    role: string | null
    token_hash: string
    status: string
    invited_by: string
    expires_at: string
    created_at: string
    accepted_at: string | null
    accepted_by: string | null
  }
  invoice_files: {
    id: string
    invoice_id: string
    backend_id: string
    key: string
    bytes: number
    sha256: string
    kept_at: string
    lost_at: string | null
  }
  kind_looks: {
    kind: string
    looked_at: string | null
    requests: Generated<number>
    due_at: string
  }
  late_usage: {
    deployment_id: string
    month: string
    received_at: string
  }
  look_requests: {
    minute: string
    requests: number
  }
  metered_hours: {
    hour: string
    metered_at: string
  }
  meters: {
    code: string
    name: string
    aggregation: string
    unit: string
    scale: number
    created_at: string
  }
  open_actions: {
    action_id: number
    read_at: string
  }
  plan_items: {
    plan_version_id: string
    resource_kind: string
    included_qty: number
    overage_unit: string | null
    overage_price_cents: number | null
    hard_cap_qty: number | null
  }
  plan_versions: {
    id: string
    plan_id: string
    version: number
    base_price_cents: number
    currency: string
    status: string
    created_at: string
    published_at: string | null
    retired_at: string | null
  }
  plans: {
    id: string
    code: string
    name: string
    last_version: Generated<number>
    created_at: string
  }
  provisioning_reservations: {
    saga_id: string
    deployment_id: string
    resource_kind: string
    created_at: string
  }
  resource_prices: {
    id: string
    resource_kind: string
    unit: string
    price_cents: number
    currency: string
    effective_from: string
    effective_to: string | null
    created_at: string
  }
  resource_versions: {
    resource_id: string
    event_id: string
    valid_from: string
    valid_to: string | null
    kind: string
    name: string
    region: string | null
    status: string | null
    tenant_id: string | null
    project_id: string | null
    deployment_id: string | null
    tags: string[]
    attrs: unknown
    deleted_at: string | null
  }
  roles: {
    name: string
    description: string | null
    permissions: string[]
    created_at: string
    updated_at: string
  }
  saga_runs: {
    id: string
    kind: string
    status: string
    step_modules: string[]
    current_step_index: Generated<number>
    compensating_index: number | null
    inputs: unknown
    context: Generated<unknown>
    cancel_requested: Generated<boolean>
    cancel_requested_by: string | null
    error: unknown
    business_key: string
    deployment_id: string | null
    tenant_id: string | null
    actor: string
    job_id: string
    claim: string | null
    last_write: string | null
    heartbeat_at: string
    suspected_at: string | null
    created_at: string
    started_at: string | null
    finished_at: string | null
    unknown_since: string | null
  }
  saga_step_results: {
    saga_id: string
    step_idx: number
    name: string
    status: string
    output: unknown
    attempts: Generated<number>
    error: string | null
    compensation_interruptions: Generated<number>
    started_at: string
    finished_at: string | null
    compensated_at: string | null
  }
  scheduled_tasks: {
    name: string
    description: string
    queue: string
    cron: string
    paused_at: string | null
    paused_by: string | null
    next_run_at: string | null
    own_queue: Generated<boolean>
  }
  secrets: {
    name: string
    version: number
    sealed: string
    fingerprint: string
    description: string | null
    created_at: string
    created_by: string
    updated_at: string
    updated_by: string
  }
  sessions: {
    id: string
    user_id: string
    tenant_id: string | null
    token: string | null
    created_at: string
    expires_at: string
    ended_at: string | null
  }
  statements: {
    id: string
    subscription_id: string
    deployment_id: string
    tenant_id: string
    period: string
    sequence: number
    adjusts: string | null
    ordinal: number
    currency: string
    total_cents: string
    lines: unknown
    content_hash: string
    closed_at: string
    test_clock_id: string | null
  }
  storage_backends: {
    id: string
    name: string
    kind: string
    folder: string | null
    endpoint: string | null
    bucket: string | null
    region: string | null
    prefix: string | null
    path_style: boolean | null
    access_key_id: string | null
    secret_access_key: string | null
    active: Generated<boolean>
    created_at: string
    created_by: string
    updated_at: string
  }
  subscription_addons: {
    id: string
    subscription_id: string
    code: string
    resource_kind: string
    qty: number
    price_cents: number
    currency: string
    quantity: number
    created_at: string
    valid_from: string
    valid_to: string | null
  }
  subscription_terms: {
    id: string
    subscription_id: string
    plan_version_id: string
    valid_from: string
    valid_to: string | null
  }
  subscriptions: {
    id: string
    deployment_id: string
    plan_version_id: string
    status: string
    current_period_start: string
    current_period_end: string
    trial_ends_at: string | null
    created_at: string
    updated_at: string
  }
  sync_freshness: {
    kind: string
    complete_at: string
    run_id: string
  }
  sync_runs: {
    id: string
    sweep_id: string
    kind: string
    attempt: Generated<number>
    status: string
    started_at: string
    finished_at: string | null
    pages: Generated<number>
    seen: Generated<number>
    total: number | null
    inserted: Generated<number>
    updated: Generated<number>
    struck: Generated<number>
    deleted: Generated<number>
    restored: Generated<number>
    held: Generated<number>
    confirmed_at: string | null
    confirmed_by: string | null
    error: string | null
    look: Generated<number>
    cut: Generated<number>
    set_aside: Generated<number>
    remarks: string | null
    refused_since: string | null
  }
  task_runs: {
    id: string
    task: string
    trigger: string
    requested_by: string | null
    status: string
    attempts: Generated<number>
    requested_at: string
    started_at: string | null
    finished_at: string | null
    error: string | null
    result: unknown
  }
  test_clocks: {
    id: string
    tenant_id: string
    started_at: string
    now: string
    target: string | null
    closed_until: string | null
    created_by: string
    created_at: string
    ended_at: string | null
  }
  unusual_days: {
    id: string
    tenant_id: string | null
    day: string
    measure: string
    currency: string
    amount_minor: string
    usual_minor: string
    limit_minor: string
    lines: unknown
    found_at: string
  }
  usage_events: {
    tenant_id: string
    source: string
    event_id: string
    deployment_id: string
    meter: string
    at: string
    value: string | null
    member: string | null
    received_at: string
  }
  usage_hours: {
    deployment_id: string
    hour: string
    kind: string
    seconds: number
    resources: number
  }
  usage_meter_hours: {
    deployment_id: string
    meter: string
    hour: string
    total: string
    highest: string
    last: string | null
    last_at: string | null
    last_id: string | null
  }
  usage_meter_members: {
    deployment_id: string
    meter: string
    month: string
    member: string
  }
  users: {
    id: string
    user_id: string
    tenant_id: string
    email: string | null
    display_name: string | null
    role: string | null
    status: string
    created_at: string
    updated_at: string
  }
  webhook_attempts: {
    delivery_id: string
    number: number
    started_at: string
    duration_ms: number
    status_code: number | null
    error: string | null
    response_body: string | null
  }
  webhook_deliveries: {
    id: string
    webhook_id: string
    event_id: string
    status: Generated<string>
    attempts: Generated<number>
    due_at: Generated<string>
    claim: string | null
    created_at: string
    finished_at: string | null
  }
  webhook_events: {
    id: string
    type: string
    tenant_id: string | null
    occurred_at: string
    data: unknown
  }
  webhooks: {
    id: string
    url: string
    events: string[]
    description: string | null
    tenant_id: string | null
    enabled: boolean
    disabled_reason: string | null
    secret: string
    previous_secret: string | null
    previous_secret_expires_at: string | null
    created_by: string
    created_at: string
    updated_at: string
    owner_tenant_id: string | null
  }
}
