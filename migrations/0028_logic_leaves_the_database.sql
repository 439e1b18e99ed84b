-- Moves, webhook payloads and audit entries are the service's work now, in the same transactions as before. What stays in the
-- database guards: constraints, append-only tables, ids, generated columns. The release before relies on what goes here, so
-- its nodes are stopped before this is applied (docs/operations.md).
drop function deliver_to_webhooks cascade;
drop function tell_of_deployment_events cascade;
drop function tell_of_resource_events cascade;
drop function tell_of_open_drift cascade;
drop function tell_of_closed_drift cascade;
drop function tell_of_saga_end cascade;
drop function tell_of_invoice cascade;
drop function drift_for_webhooks;
drop function webhook_wants;

drop function audit_change cascade;
drop function audit_id;
drop sequence audit_order;

drop function move_deployment(text, uuid, text, text[], text, text, uuid, text, text, text, timestamptz);
drop function move_deployment(text, uuid, text, text[], text, boolean, text, uuid, text, text, text, timestamptz);
drop function keep_subscription_terms cascade;
drop function changes_for_new_owner;

-- These were for nodes of earlier releases alone.
drop function fill_tenant_of_resource cascade;
alter table cloud_resource_events alter column tenant_id drop default;
alter table cloud_provisioned alter column tenant_id drop default;
alter table cloud_drift alter column tenant_id drop default;
drop function pass_over_unkeyed cascade;
alter table subscription_addons alter column valid_from drop default;
