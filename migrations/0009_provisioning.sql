-- Provisioning: places of a plan taken by runs under way, what keeps provisioning and deprovisioning apart, and what finds
-- resources that a saga has left behind.

-- A run that has passed its plan's cap and has no resource in the inventory yet. It counts only while the run is under way.
create table provisioning_reservations (
  saga_id       uuid primary key references saga_runs (id),
  deployment_id uuid not null references cloud_deployments (id),
  resource_kind text not null,
  created_at    timestamptz(3) not null
);
create index provisioning_reservations_deployment on provisioning_reservations (deployment_id);

-- Of one deployment, any number of provisionings may be under way, or one deprovisioning, whoever started them. Each
-- provisioning is a point of its own on a line, a deprovisioning the whole line: what overlaps excludes each other.
-- (Equality inside an exclusion constraint needs an extension that the embedded engine lacks: deployments are compared as
-- points, too.)
alter table saga_runs add constraint saga_runs_deprovision_alone exclude using gist (
  int8range(hashtextextended(deployment_id::text, 0), hashtextextended(deployment_id::text, 0), '[]') with &&,
  (case kind when 'deprovision_deployment' then int8range(null, null)
    else int8range(hashtextextended(id::text, 0), hashtextextended(id::text, 0), '[]') end) with &&
) where (
  kind in ('provision_deployment', 'deprovision_deployment') and deployment_id is not null
  and status in ('pending', 'running', 'compensating'));

-- When a saga put the resource into the project: a list that was asked for before does not know of it.
alter table cloud_project_members add column placed_at timestamptz(3);

create function carries_saga_tag(tags text[]) returns boolean language plpgsql immutable parallel safe as $$
declare
  tag text;
begin
  foreach tag in array tags loop
    if starts_with(tag, 'saga:') then return true; end if;
  end loop;
  return false;
end
$$;
create index cloud_resources_of_sagas on cloud_resources (id) where deleted_at is null and carries_saga_tag(tags);
