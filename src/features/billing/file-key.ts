// What an invoice's raw file is called: where it is kept, by the invoice and the file's own hash, and when it is downloaded.

/** The provider names its invoices; only harmless characters of that get into a path. The hash keeps keys apart. */
const harmless = (name: string): string => name.replace(/[^\w-]/g, '_')

export const fileKey = (invoiceUuid: string, sha256: string): string =>
  `invoices/${harmless(invoiceUuid)}/${sha256}.csv`

export const downloadName = ({ period, invoice_uuid }: { period: string; invoice_uuid: string }): string =>
  `invoice-${period.slice(0, 7)}-${harmless(invoice_uuid)}.csv`
