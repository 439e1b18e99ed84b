-- What an invoice waits for, whose account is billed, and tax lines that say nothing of tax.

-- The provider has changed the invoice (its amount or its month) since its lines were read: finance is told nothing until
-- the new file is in.
alter table cloud_invoices add column awaits_file boolean not null default false;

-- Whom the provider bills, as it was last asked.
create table cloud_accounts (
  provider    text primary key,
  -- The provider's own id: the team's where there is one.
  account_id  text not null,
  name        text,
  recorded_at timestamptz(3) not null
);

-- Flagged now: the product says that it is tax, the description does not.
update cloud_cost_lines set tax_flagged = true where kind = 'tax' and not is_tax and not tax_flagged;
