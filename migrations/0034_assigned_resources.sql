-- Which deployment an operator has said a resource is for, where no tag can. None: nobody has, or it no longer holds. No foreign
-- key: the writer has read the deployment, none is ever deleted, and deployment_id, written with it, has one.
alter table cloud_resources add column assigned_deployment_id uuid;
