-- Where raw invoice files are kept, and which file is kept where.
create table storage_backends (
  id                uuid primary key,
  name              text not null constraint storage_backends_name unique check (length(name) between 1 and 64),
  kind              text not null check (kind in ('local', 's3')),
  -- A local backend's folder, below the one folder of the service that backends may be in.
  folder            text,
  endpoint          text,
  bucket            text,
  region            text,
  prefix            text,
  path_style        boolean,
  access_key_id     text,
  -- Sealed; never the key itself.
  secret_access_key text check (secret_access_key like 'v1.%'),
  active            boolean not null default false,
  created_at        timestamptz(3) not null,
  created_by        text not null,
  updated_at        timestamptz(3) not null,
  constraint storage_backends_settings check (
    case kind
      when 'local' then folder is not null
        and num_nonnulls(endpoint, bucket, region, prefix, path_style, access_key_id, secret_access_key) = 0
      else folder is null
        and num_nulls(endpoint, bucket, region, path_style, access_key_id, secret_access_key) = 0
    end)
);
-- One is active, or none.
create unique index storage_backends_active on storage_backends (active) where active;

-- A row for each file that is kept: an invoice whose file has changed has several, and so has one whose file is in more
-- than one backend. A backend that is named here cannot be deleted.
create table invoice_files (
  id         uuid primary key,
  invoice_id uuid not null references cloud_invoices (id),
  backend_id uuid not null constraint invoice_files_backend references storage_backends (id),
  key        text not null,
  bytes      bigint not null check (bytes >= 0),
  sha256     text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  kept_at    timestamptz(3) not null,
  constraint invoice_files_once unique (invoice_id, sha256, backend_id)
);
create index invoice_files_by_backend on invoice_files (backend_id);
