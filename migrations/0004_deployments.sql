-- Deployments, the billable unit; every move between states; what each is subscribed to.
create table cloud_deployments (
  id                       uuid primary key,
  tenant_id                text not null check (length(tenant_id) between 1 and 128),
  slug                     text not null,
  display_name             text not null,
  region                   text not null,
  state                    text not null check (state in ('trial', 'active', 'past_due', 'paused', 'suspended', 'cancelled', 'archived')),
  llm_mode                 text not null,
  billing_action_suspended boolean not null default false,
  template_code            text,
  template_version         text,
  created_at               timestamptz(3) not null,
  updated_at               timestamptz(3) not null,
  constraint cloud_deployments_slug unique (tenant_id, slug)
);
create index cloud_deployments_tenant on cloud_deployments (tenant_id, id);
create index cloud_deployments_state on cloud_deployments (state, id);
create index cloud_deployments_region on cloud_deployments (region, id);
create index cloud_deployments_slug_alone on cloud_deployments (slug, id);

create table cloud_deployment_events (
  id            uuid primary key,
  deployment_id uuid not null references cloud_deployments (id),
  from_state    text not null,
  to_state      text not null,
  actor         text not null,
  actor_role    text,
  reason        text,
  created_at    timestamptz(3) not null
);
create index cloud_deployment_events_deployment on cloud_deployment_events (deployment_id, id);
create trigger append_only before update or delete on cloud_deployment_events
  for each row execute function refuse_change();
create trigger append_only_whole before truncate on cloud_deployment_events
  for each statement execute function refuse_change();

create table subscriptions (
  id                   uuid primary key,
  -- Exactly one for a deployment.
  deployment_id        uuid not null constraint subscriptions_one_each unique references cloud_deployments (id),
  plan_version_id      uuid not null references plan_versions (id),
  status               text not null check (status in ('active', 'paused', 'cancelled')),
  current_period_start date not null,
  current_period_end   date not null check (current_period_end >= current_period_start),
  trial_ends_at        timestamptz(3),
  created_at           timestamptz(3) not null,
  updated_at           timestamptz(3) not null
);
create index subscriptions_plan_version on subscriptions (plan_version_id);
-- The monthly roll-over looks for periods that have ended.
create index subscriptions_period on subscriptions (current_period_end) where status <> 'cancelled';

-- What an addon was when it was attached; the catalog may move on.
create table subscription_addons (
  id              uuid primary key,
  subscription_id uuid not null references subscriptions (id),
  code            text not null,
  resource_kind   text not null,
  qty             bigint not null,
  price_cents     bigint not null,
  currency        text not null,
  -- How many of the addon were attached.
  quantity        int not null check (quantity > 0),
  created_at      timestamptz(3) not null,
  unique (subscription_id, code)
);

-- A resource is tied to a deployment that exists, or to none.
update cloud_resources set deployment_id = null where deployment_id is not null;
alter table cloud_resources add foreign key (deployment_id) references cloud_deployments (id);
