-- What was known of by a moment and comes after an id: the last page of a time when most of today's resources were yet to come.
create index cloud_resources_found on cloud_resources (first_seen_at, id);
