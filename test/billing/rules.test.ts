// Billing's pure rules: amounts, times, names, tax, and the file they are all read from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  endOf,
  handAssigned,
  isDoubtfulTax,
  isTax,
  kindOf,
  lineKey,
  nameOf,
} from '../../src/features/billing/cost-line.ts'
import { readLineTime } from '../../src/features/billing/csv-line.ts'
import { readAmount } from '../../src/features/billing/written-amount.ts'
import { fixtureText } from '../support/billing.ts'
import { BAD_FILES, csv, HEADER, linesOf, row } from '../support/csv.ts'

test('an amount is read exactly in every form it is written in', () => {
  const forms: [string, string, number][] = [
    ['$3.11', '3.11', 311],
    ['$1,234.56', '1234.56', 123_456],
    ['-$5.00', '-5.00', -500],
    ['$-5.00', '-5.00', -500],
    ['($5.00)', '-5.00', -500],
    ['−$5.00', '-5.00', -500],
    ['+$5.00', '5.00', 500],
    ['$ 5', '5', 500],
    ['US$5.5', '5.5', 550],
    ['USD 5.5', '5.5', 550],
    ['USD$5.5', '5.5', 550],
    ['-US$ 5', '-5', -500],
    ['5.00', '5.00', 500],
    ['.07', '0.07', 7],
    ['$007.10', '7.10', 710],
    ['-$0.00', '0.00', 0],
    ['$0.1', '0.1', 10],
    ['$9007199254740.99', '9007199254740.99', 900_719_925_474_099],
  ]
  for (const [text, amount, minor] of forms)
    assert.deepEqual(readAmount(text, 'USD'), { amount, minor }, text)
  for (const text of [
    '',
    '$',
    '-',
    'x',
    '1e3',
    '1.2.3',
    '$1,23',
    '1,2345',
    '(5',
    '5)',
    '(-5)',
    '--5',
    '-$-5',
    '$5 USD',
    '$$5',
    '٣',
  ])
    assert.equal(readAmount(text, 'USD'), undefined, text)
})

test('only a symbol of the amount’s own currency may stand before it', () => {
  const own: Record<string, string[]> = {
    USD: ['$', 'US$', 'U$', 'USD', 'USD$'],
    CAD: ['$', 'CA$', 'C$', 'CAD'],
    EUR: ['€', 'EUR'],
    GBP: ['£', 'GBP', 'GB£'],
    JPY: ['¥', 'JP¥'],
    CNY: ['¥', 'CN¥'],
    SEK: ['kr', 'SEK'],
    INR: ['₹'],
  }
  const all = [...new Set(Object.values(own).flat())]
  for (const [currency, marks] of Object.entries(own))
    for (const mark of all)
      assert.equal(
        readAmount(`${mark}1`, currency) !== undefined,
        marks.includes(mark),
        `${mark} ${currency}`,
      )
})

test('a fraction of a minor unit is kept in the amount and rounded half away from zero in the minor units', () => {
  const halves: [string, number][] = [
    ['$0.004', 0],
    ['$0.005', 1],
    ['-$0.005', -1],
    ['$1.0149999', 101],
    ['$1.015', 102],
    ['-$1.015', -102],
    ['$0.995', 100],
  ]
  for (const [text, minor] of halves) assert.equal(readAmount(text, 'USD')?.minor, minor, text)
  assert.equal(readAmount('-$0.004', 'USD')?.amount, '-0.004')
  assert.deepEqual(readAmount('¥1500', 'JPY'), { amount: '1500', minor: 1500 })
  assert.deepEqual(readAmount('1.2345', 'KWD'), { amount: '1.2345', minor: 1235 })
})

test('any amount of cents survives being written with a symbol, groups and either minus', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 1e12 }),
      fc.constantFrom('-$#', '$-#', '($#)'),
      (cents, negative) => {
        const [whole, fraction] = [Math.trunc(Math.abs(cents) / 100), Math.abs(cents) % 100]
        const digits = `${whole.toLocaleString('en-US')}.${String(fraction).padStart(2, '0')}`
        const text = cents < 0 ? negative.replace('#', digits) : `$${digits}`
        assert.equal(readAmount(text, 'USD')?.minor, cents)
      },
    ),
  )
})

test('a time is read with its offset, and a day that does not exist is none', () => {
  const times: [string, string][] = [
    ['2020-07-22 18:14:39 +0000', '2020-07-22T18:14:39.000Z'],
    ['2026-03-29 02:30:00 +0200', '2026-03-29T00:30:00.000Z'],
    ['2026-12-31 20:00:00 -0500', '2027-01-01T01:00:00.000Z'],
    ['2026-12-31 20:00:00 -05:30', '2027-01-01T01:30:00.000Z'],
    ['2026-10-01 00:00:00 UTC', '2026-10-01T00:00:00.000Z'],
    ['2026-10-01 00:00:00 GMT', '2026-10-01T00:00:00.000Z'],
    ['2026-10-01 00:00:00 EST', '2026-10-01T05:00:00.000Z'],
    ['2026-10-01T00:00:00Z', '2026-10-01T00:00:00.000Z'],
    ['2024-02-29 00:00:00.1239 +0000', '2024-02-29T00:00:00.123Z'],
  ]
  for (const [text, time] of times) assert.equal(readLineTime(text), time, text)
  for (const text of [
    '2026-02-29 00:00:00 +0000',
    '2026-02-30 00:00:00 +0000',
    '2026-13-01 00:00:00 +0000',
    '2026-00-10 00:00:00 +0000',
    '2026-01-00 00:00:00 +0000',
    '2026-01-01 24:00:00 +0000',
    '2026-01-01 00:60:00 +0000',
    '2026-01-01 00:00:60 +0000',
    '2026-01-01 00:00:00 +1500',
    '2026-01-01 00:00:00 XYZ',
    '2026-01-01 00:00:00',
    '2026-01-01',
    '01/02/2026 00:00:00 +0000',
  ])
    assert.equal(readLineTime(text), undefined, text)
  assert.equal(endOf({ end_at: null, period: '2026-12-01' }), '2027-01-01T00:00:00.000Z')
})

test('the kind comes from the product and the name from a description of the form name (size)', () => {
  const lines: [product: string, description: string, kind: string, name: string | null][] = [
    ['Droplets', 'web-01 (s-1vcpu-1gb)', 'droplet', 'web-01'],
    [' droplets', 'web-01(s-1vcpu-1gb)', 'droplet', 'web-01'],
    ['GPU Droplets', 'train-01 (gpu-h100x1-80gb)', 'droplet', 'train-01'],
    ['Droplets', 'web (blue) (s-1vcpu-1gb)', 'droplet', 'web (blue)'],
    ['Droplets', 'taxi-api (s-1vcpu-1gb)', 'droplet', 'taxi-api'],
    ['Droplets', 'web-01', 'droplet', null],
    ['Droplets', '(s-1vcpu-1gb)', 'droplet', null],
    ['Droplets', 'web-01 (s-1vcpu-1gb) and more', 'droplet', null],
    ['Volumes', 'data-01 (sfo2) 100GB', 'volume', 'data-01'],
    ['Volumes', 'data-01 (sfo2) 1.5 TiB', 'volume', 'data-01'],
    ['Volume Snapshots', 'nightly (61.2 GB)', 'snapshot', 'nightly'],
    ['Load Balancers', 'lb (lb-small)', 'load_balancer', 'lb'],
    ['Database Clusters', 'pg (db-s-1vcpu-2gb)', 'database', 'pg'],
    ['Kubernetes Clusters', 'k8s (s-2vcpu-4gb)', 'kubernetes_cluster', 'k8s'],
    ['App Platform', 'shop (apps-s-1vcpu-0.5gb)', 'app', 'shop'],
    ['Container Registry Subscription', 'images (Basic)', 'registry', 'images'],
    ['Floating IPs', 'Unused Floating IP - 1.1.1.1', 'reserved_ip', '1.1.1.1'],
    ['Reserved IPs', 'nothing to see', 'reserved_ip', null],
    // A backup bears its droplet's name, and a tax looks like name (size): neither is a resource.
    ['Backups', 'web-01 (s-1vcpu-1gb)', 'backup', null],
    ['Taxes', 'STATE SALES TAX (6.25%)', 'tax', null],
    ['Credits', 'For the trouble (March)', 'credit', null],
    ['Spaces Subscription', 'Spaces (250GB)', 'spaces_subscription', null],
    ['Firewall', 'one (two)', 'other_firewall', null],
    ['***', 'one (two)', 'other_', null],
  ]
  for (const [product, description, kind, name] of lines) {
    assert.equal(kindOf(product), kind, product)
    assert.equal(nameOf(kind, description), name, description)
  }
  assert.equal(nameOf('droplet', `${' '.repeat(200_000)}(`), null)
})

test('a description that contains gst or tax is tax, and flagged where the product says otherwise', () => {
  for (const text of ['STATE SALES TAX (6.25%)', 'GST', 'taxi-api (s-1vcpu-1gb)', 'angst'])
    assert.ok(isTax(text), text)
  for (const text of ['web-01 (s-1vcpu-1gb)', 'G S T', '']) assert.ok(!isTax(text), text)
  assert.ok(isDoubtfulTax('taxi-api (s-1vcpu-1gb)', 'Droplets'))
  assert.ok(!isDoubtfulTax('STATE SALES TAX (6.25%)', 'Taxes'))
  assert.ok(!isDoubtfulTax('web-01', 'Droplets'))
  assert.ok(isDoubtfulTax('VAT (20%)', 'Taxes'))
  assert.ok(isDoubtfulTax('VAT (20%)', ' TAXES '))
  assert.ok(!isDoubtfulTax('GST (5%)', ' TAXES '))
  assert.ok(isDoubtfulTax('GST (5%)', ''))
})

test('the provider’s own example of a file is read to the cent', async () => {
  const { currency, lines } = await linesOf(fixtureText('invoice.csv'))
  assert.equal(currency, 'USD')
  assert.deepEqual(lines, [
    {
      line_number: 2,
      product: 'Floating IPs',
      group_description: null,
      description: 'Unused Floating IP - 1.1.1.1',
      kind: 'reserved_ip',
      name: '1.1.1.1',
      hours: '100',
      start_at: '2020-07-01T00:00:00.000Z',
      end_at: '2020-07-22T18:14:39.000Z',
      amount: '3.11',
      amount_minor: 311,
      project_name: null,
      category: 'iaas',
      is_tax: false,
      tax_flagged: false,
      extra: null,
    },
    {
      line_number: 3,
      product: 'Taxes',
      group_description: null,
      description: 'STATE SALES TAX (6.25%)',
      kind: 'tax',
      name: null,
      hours: null,
      start_at: '2020-07-01T00:00:00.000Z',
      end_at: '2020-07-31T23:59:59.000Z',
      amount: '0.16',
      amount_minor: 16,
      project_name: null,
      category: 'iaas',
      is_tax: true,
      tax_flagged: false,
      extra: null,
    },
  ])
})

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter(value => !value.includes('\0'))

test('columns in any order, with any line ends, byte order mark and chunks give identical lines', async () => {
  const rows = fc.array(
    fc.record({ product: text, description: text, project_name: text, colour: text, cents: fc.nat(1e6) }),
    { minLength: 1, maxLength: 8 },
  )
  const columns = [...HEADER, 'colour']
  const order = fc.shuffledSubarray(columns, { minLength: columns.length })
  await fc.assert(
    fc.asyncProperty(
      rows,
      order,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      fc.integer({ min: 1, max: 400 }),
      async (generated, permuted, lineEnd, mark, chunk) => {
        const written = generated.map(({ cents, product, description, ...fields }) =>
          row({
            ...fields,
            product: `P${product}`,
            description: `D\n"${description}" (x)`,
            USD: `$${(cents / 100).toFixed(2)}`,
          }),
        )
        const plain = await linesOf(csv(written, columns))
        const other = await linesOf((mark ? '\ufeff' : '') + csv(written, permuted, lineEnd), chunk)
        assert.deepEqual(other, plain)
        assert.equal(plain.lines.length, written.length)
        assert.deepEqual(
          plain.lines.map(line => line.amount_minor),
          generated.map(({ cents }) => cents),
        )
      },
    ),
    { numRuns: 60 },
  )
})

test('short rows, blank lines, an older header and unknown columns are taken as they are', async () => {
  const older = HEADER.filter(column => column !== 'category')
  assert.equal((await linesOf(csv([row()], older))).lines[0]?.category, null)
  const short = csv([row()]).replace(',acme,iaas', '')
  assert.deepEqual(
    (await linesOf(`${short}\n\n${short.split('\n')[1]}`)).lines.map(line => [
      line.line_number,
      line.project_name,
      line.category,
      line.amount,
    ]),
    [
      [2, null, null, '6.00'],
      [5, null, null, '6.00'],
    ],
  )
  const named = ['sku', '__proto__', 'Group Description', '']
  const extra = csv(
    [row({ sku: 'x1', ['__proto__']: 'harmless', '': 'no name', 'Group Description': 'pool' })],
    [...HEADER.filter(column => column !== 'group_description'), ...named],
  )
  const [line] = (await linesOf(extra)).lines
  assert.deepEqual(
    [line?.extra, line?.group_description],
    [JSON.parse('{"sku": "x1", "__proto__": "harmless"}'), 'pool'],
  )
  assert.deepEqual((await linesOf(csv([]))).lines, [])
  assert.equal(
    (await linesOf(csv([row({ GBP: '£1.50' })], ['GBP', ...HEADER.filter(c => c !== 'USD')]))).currency,
    'GBP',
  )
})

test('the amount’s column is known by any case of a currency’s code or by its name, and so are the others', async () => {
  const plain = await linesOf(csv([row({ group_description: 'pool' })]))
  const renamed = (names: Record<string, string>, mark = '') => {
    const [header, ...rest] = csv([row({ group_description: 'pool' })]).split('\n')
    const written = header!.split(',').map(name => names[name] ?? name)
    return [mark + written.join(','), ...rest].join('\n')
  }
  for (const amount of ['usd', 'Usd', ' USD ', '"usd"', 'amount', 'Amount', ' AMOUNT\t'])
    for (const mark of ['', '\ufeff'])
      assert.deepEqual(await linesOf(renamed({ USD: amount }, mark)), plain, amount)
  const spelled = {
    product: ' Product ',
    group_description: '"Group  Description"',
    description: 'DESCRIPTION',
    hours: 'Hours\u00a0',
    start: '\tStart',
    project_name: 'Project-Name',
  }
  for (const mark of ['', '\ufeff']) assert.deepEqual(await linesOf(renamed(spelled, mark)), plain)
  assert.deepEqual(await linesOf(renamed({ product: '"Product"' }, '\ufeff')), plain)

  // A file that names no currency is in the invoice's; one that names it for every line may only say the same.
  const sums = csv([row({ amount: '€1.50' })], ['amount', ...HEADER.filter(c => c !== 'USD')])
  const inEuro = await linesOf(sums, 65_536, 'EUR')
  assert.deepEqual([inEuro.currency, inEuro.lines[0]?.amount_minor], ['EUR', 150])
  const said = csv([row({ Currency: ' usd ' }), row({ Currency: '' })], [...HEADER, 'Currency'])
  assert.deepEqual(
    (await linesOf(said)).lines.map(line => [line.amount, line.extra]),
    [
      ['6.00', null],
      ['6.00', null],
    ],
  )
})

test('rows of nothing are no lines, amounts may be padded, and columns of one name that nobody knows are both kept', async () => {
  const odd = `\n,,,\n${csv([row({ USD: ' ($1,234.50) ' })])} , ,,,,,,,\n\n"",\n${csv([row()]).split('\n')[1]}\n`
  assert.deepEqual(
    (await linesOf(odd)).lines.map(line => [line.line_number, line.amount, line.amount_minor]),
    [
      [4, '-1234.50', -123_450],
      [8, '6.00', 600],
    ],
  )
  const [header, line] = csv([row()]).split('\n')
  const twice = `${header},Cost Centre,note,cost_centre\n${line},a,b,c\n`
  assert.deepEqual((await linesOf(twice)).lines[0]?.extra, {
    cost_centre: 'a',
    note: 'b',
    cost_centre_12: 'c',
  })
})

test('a line without a product is kept under its description, and passes for no resource', async () => {
  const { lines } = await linesOf(
    csv([
      row({ product: ' ', description: 'Promotional thing (web-01)', USD: '-$5.00' }),
      row({ product: '', description: 'GST (5%)' }),
      row({ product: '', description: 'web-01 (s-1vcpu-1gb)' }),
      row({ product: '', description: 'Taxes' }),
    ]),
  )
  assert.deepEqual(
    lines.map(({ product, kind, name, amount, is_tax, tax_flagged }) => [
      product,
      kind,
      name,
      amount,
      is_tax,
      tax_flagged,
    ]),
    [
      ['Promotional thing (web-01)', 'promotional_thing_web_01', null, '-5.00', false, false],
      ['GST (5%)', 'gst_5', null, '6.00', true, true],
      ['web-01 (s-1vcpu-1gb)', 'web_01_s_1vcpu_1gb', null, '6.00', false, false],
      ['Taxes', 'tax', null, '6.00', true, true],
    ],
  )
})

test('a bad file is refused with the line and the column that are wrong', async () => {
  for (const [what, file, says] of BAD_FILES)
    for (const chunk of file.length < 10_000 ? [7, 65_536] : [65_536])
      await assert.rejects(linesOf(file, chunk), { name: 'InvoiceFileError', message: says }, what)
})

test('a file cut off anywhere is read as far as it goes or refused, and never anything else', async () => {
  const whole = Buffer.from(
    `\ufeff${csv([row(), row({ description: 'é "q"\n(x)', USD: '($1,000.50)' }), row()], HEADER, '\r\n')}`,
  )
  const all = await linesOf(whole)
  for (let end = 0; end < whole.length; end++) {
    try {
      const { lines } = await linesOf(whole.subarray(0, end))
      assert.ok(lines.length <= all.lines.length)
      // The last line may lack its last field; those before it are whole.
      assert.deepEqual(lines.slice(0, -1), all.lines.slice(0, Math.max(0, lines.length - 1)))
    } catch (error) {
      assert.equal((error as Error).name, 'InvoiceFileError', `cut at ${end}: ${error}`)
    }
  }
})

test('an assignment is found again by what its line says and by which of such lines it is', () => {
  const line = (description: string) => ({
    product: 'Droplets',
    group_description: null,
    description,
    start_at: '2026-10-01T00:00:00.000Z',
    end_at: null,
    project_name: null,
  })
  const assignment = (description: string, occurrence: number, tenant_id: string) => ({
    invoice_id: 'i',
    line_key: lineKey(line(description)),
    occurrence,
    resource_id: null,
    deployment_id: null,
    tenant_id,
    assigned_by: 'ada',
    assigned_at: '2026-11-01T00:00:00.000Z',
  })
  const assigned = handAssigned([assignment('a', 2, 'acme'), assignment('b', 1, 'globex')])
  const tenants = ['a', 'b', 'c', 'a', 'a', 'b'].map(description => assigned(line(description))?.tenant_id)
  assert.deepEqual(tenants, [undefined, 'globex', undefined, 'acme', undefined, undefined])
  assert.equal(handAssigned([])(line('a')), undefined)
  assert.equal(handAssigned([assignment('a', 1, 'acme')])(line('a'))?.tenant_id, 'acme')
})
