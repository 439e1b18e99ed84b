// The rules of keeping files: what a backend may be, and what files are called.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { downloadName, fileKey } from '../../src/features/billing/invoice-file.ts'
import { type Settings, settingsProblems } from '../../src/features/storage-backends/storage-backend.ts'

const S3: Settings = {
  kind: 's3',
  endpoint: 'https://s3.example.com',
  bucket: 'invoices',
  region: 'us-east-1',
  access_key_id: 'AKIA',
  secret_access_key: 'secret',
}

const problems = (settings: Settings) => settingsProblems(settings, () => undefined)
const pointers = (settings: Settings) => problems(settings).map(({ pointer }) => pointer)

test('each kind of backend asks for its own settings, and refuses the other kind’s', () => {
  assert.deepEqual(problems({ kind: 'local', folder: 'raw' }), [])
  assert.deepEqual(problems(S3), [])
  assert.deepEqual(problems({ ...S3, prefix: null }), [])
  assert.deepEqual(problems({ ...S3, prefix: 'raw/invoices', path_style: false }), [])
  assert.deepEqual(problems({ kind: 'local' }), [
    { pointer: '/folder', message: 'is required for kind local' },
  ])
  assert.deepEqual(
    problems({ kind: 's3' }),
    ['endpoint', 'bucket', 'region', 'access_key_id', 'secret_access_key'].map(name => ({
      pointer: `/${name}`,
      message: 'is required for kind s3',
    })),
  )
  assert.deepEqual(problems({ ...S3, folder: 'raw' }), [
    { pointer: '/folder', message: 'is for kind local alone' },
  ])
  assert.deepEqual(
    problems({ ...S3, kind: 'local', folder: 'raw', prefix: 'x', path_style: false }),
    ['endpoint', 'bucket', 'region', 'prefix', 'path_style', 'access_key_id', 'secret_access_key'].map(
      name => ({ pointer: `/${name}`, message: 'is for kind s3 alone' }),
    ),
  )
})

test('a folder or prefix is made of plain names, and never leads up or to the root', () => {
  const good = ['a', 'raw/2026', 'A_b-c.d', '.hidden', '...', 'a/..b', 'a/b./c', '..a/b', 'a/...']
  const bad = ['/', '/etc', 'a/', 'a//b', '.', '..', '../a', 'a/..', 'a/../b', './a', 'a/.', 'a/./b']
  const worse = ['a\\b', 'a b', 'a\n', 'ä', '~', 'C:', 'a%2e', '']
  for (const path of good) {
    assert.deepEqual(problems({ kind: 'local', folder: path }), [], path)
    assert.deepEqual(problems({ ...S3, prefix: path }), [], path)
  }
  for (const path of [...bad, ...worse]) {
    assert.deepEqual(pointers({ kind: 'local', folder: path }), ['/folder'], path)
    assert.deepEqual(pointers({ ...S3, prefix: path }), ['/prefix'], path)
  }
  const [found] = problems({ kind: 'local', folder: '..' })
  assert.match(found!.message, /^must be names of letters, digits, .* no "\." or "\.\." among them$/)
})

test('buckets, regions and keys are of the characters that services take', () => {
  const cases: [keyof Settings, string[], string[], RegExp][] = [
    [
      'bucket',
      ['abc', 'my-bucket.2', '9a9', 'a9b', `a${'b'.repeat(61)}c`],
      ['ab', '-bucket', 'bucket-', 'Bucket', 'a_b', 'a/b', `a${'b'.repeat(62)}c`],
      /^must be 3 to 63 small letters/,
    ],
    ['region', ['auto', 'us-east-9'], ['US', 'us east', 'a/b', ''], /such as us-east-1$/],
    ['access_key_id', ['AKIA_1.+=@:-'], ['a/b', 'a,b', 'a b', ''], /^must be letters, digits and any of/],
    ['secret_access_key', ['!aZ/+=~'], ['a b', 'a\tb', 'é', ''], /^must be printable ASCII/],
  ]
  for (const [name, good, bad, says] of cases) {
    for (const value of good) assert.deepEqual(problems({ ...S3, [name]: value }), [], value)
    for (const value of bad) {
      const found = problems({ ...S3, [name]: value })
      assert.deepEqual(
        found.map(({ pointer }) => pointer),
        [`/${name}`],
        value,
      )
      assert.match(found[0]!.message, says)
    }
  }
})

test('the endpoint is judged with the style of addresses it is used with', () => {
  const asked: [string, boolean][] = []
  const judge = (endpoint: string, pathStyle: boolean) => {
    asked.push([endpoint, pathStyle])
    return 'is no good'
  }
  const found = [undefined, true, false].map(path_style => settingsProblems({ ...S3, path_style }, judge))
  assert.deepEqual(asked, [
    ['https://s3.example.com', true],
    ['https://s3.example.com', true],
    ['https://s3.example.com', false],
  ])
  for (const each of found) assert.deepEqual(each, [{ pointer: '/endpoint', message: 'is no good' }])
})

test('a file is named by its invoice and its hash, and whatever the provider calls the invoice leads nowhere else', () => {
  assert.equal(fileKey('22737513-0ea7', 'ab'), 'invoices/22737513-0ea7/ab.csv')
  assert.equal(fileKey('../../a b\0"', 'ab'), 'invoices/______a_b__/ab.csv')
  assert.equal(downloadName({ period: '2026-10-01', invoice_uuid: 'x"\r\ny' }), 'invoice-2026-10-x___y.csv')
})
