-- When a kept file was found to be gone from its backend, or to be another one: it is put there again when it is at hand.
alter table invoice_files add column lost_at timestamptz(3);
