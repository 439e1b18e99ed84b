-- Upgrades that roll: a process takes only runs whose steps it knows.

-- When a process first came for the run that did not know its steps; none: nobody has, or one that knew them came later.
alter table saga_runs add column unknown_since timestamptz(3);

-- When the task's next tick is due, by the database's clock. Whoever moves it on sends the tick's job in the same
-- transaction; none: to be worked out from the latest tick.
alter table scheduled_tasks add column next_run_at timestamptz(3);

-- Whether the task's job lies in a pg-boss queue of its own, where workers of a version that does not know it do not look.
alter table scheduled_tasks add column own_queue boolean not null default false;
