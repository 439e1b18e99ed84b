-- What is missing: by a sweep, which strikes, or by a look in between, which does not. When it was last seen is not in the index,
-- for every sweep writes that.
drop index cloud_resources_missing;
create index cloud_resources_missing on cloud_resources (id)
  where (stale_strike_count > 0 or missing_since is not null) and deleted_at is null;
