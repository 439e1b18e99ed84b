// How much of a resource is stored, at the edges, and what a sweep's record says of the rest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seenResource } from '../../src/features/inventory/index.ts'
import { fitAttrs, fitTags, fitText, isStorableId } from '../../src/features/inventory/seen-resource.ts'
import { createRemarks } from '../../src/features/inventory/sync-run.ts'
import { isRefusedValue, reasonOf } from '../../src/kernel/db/errors.ts'

const item = { provider_id: '1', kind: 'volume', attrs: {}, urn: null } as const

test('an id of up to 255 characters that is text can be stored', () => {
  assert.deepEqual(['', 'x', 'x'.repeat(255), 'x'.repeat(256), 'a\0', '\ud800', '😀'].map(isStorableId), [
    true,
    true,
    true,
    false,
    false,
    false,
    true,
  ])
})

test('a text of up to 255 characters stays, a longer one is cut between characters', () => {
  const cut: string[] = []
  for (const text of [undefined, null, '', 'x'.repeat(255)]) assert.equal(fitText(text, 'name', cut), text)
  assert.deepEqual(cut, [])
  assert.equal(fitText('x'.repeat(256), 'name', cut), 'x'.repeat(255))
  assert.equal(fitText(`${'x'.repeat(254)}😀`, 'region', cut), 'x'.repeat(254))
  assert.equal(fitText(`${'x'.repeat(253)}😀y`, 'region', cut), `${'x'.repeat(253)}😀`)
  assert.deepEqual(cut, [
    'its name was cut to 255 characters',
    'its region was cut to 255 characters',
    'its region was cut to 255 characters',
  ])
})

test('five hundred tags of 255 characters stay; of more, those that matter are kept first', () => {
  const cut: string[] = []
  const tags = Array.from({ length: 500 }, (_, n) => `${n}`.padStart(255, '0'))
  const never = () => false
  assert.equal(fitTags(tags, never, cut), tags)
  assert.equal(fitTags(undefined, never, cut), undefined)
  assert.deepEqual(cut, [])
  assert.deepEqual(fitTags(['b', 'x'.repeat(256), 'a'], never, cut), ['a', 'b'])
  const kept = fitTags([...tags, 'z'], tag => tag === 'z', cut)
  assert.deepEqual(
    [kept.length, kept.at(-1), kept.includes(tags[498]!), kept.includes(tags[499]!)],
    [500, 'z', true, false],
  )
  assert.deepEqual(cut, ['2 of its 3 tags were kept', '500 of its 501 tags were kept'])
})

test('the largest attributes are left out until the others fit, in the order of their names', () => {
  const limit = 256 * 1024
  const text = (size: number) => 'x'.repeat(size - 2)
  const kept = (attrs: Record<string, unknown>, cut: string[] = []) => [
    Object.keys(fitAttrs(attrs, cut)),
    ...cut,
  ]
  assert.deepEqual(kept({ b: text(limit - 2), a: 0 }), [['a'], 'its largest attributes were left out (1)'])
  assert.deepEqual(kept({ b: text(limit - 3), a: 0 }), [['a', 'b']])
  assert.deepEqual(kept({ c: text(limit), b: text(limit - 1), a: undefined }), [
    ['a'],
    'its largest attributes were left out (2)',
  ])
})

test('a resource tells what was cut of it, and only then', () => {
  assert.equal('cut' in seenResource({ ...item, name: 'x' }), false)
  const omitted = ['its attribute a is nested too deep']
  const seen = seenResource({ ...item, name: 'x'.repeat(300), tags: ['y'.repeat(300), 'saga:1'], omitted })
  assert.deepEqual(
    [seen.name?.length, seen.tags, seen.cut],
    [255, ['saga:1'], [...omitted, 'its name was cut to 255 characters', '1 of its 2 tags were kept']],
  )
})

test('a record names the first five, counts the others, and shows ids short and harmless', () => {
  const none = createRemarks()
  assert.deepEqual(none.counts(), { cut: 0, set_aside: 0, remarks: null })
  const remarks = createRemarks()
  remarks.cut('1', ['a', 'b'])
  remarks.setAside('x\n\0\ud800', 'no')
  remarks.setAside('i'.repeat(65), 'no')
  assert.deepEqual(remarks.counts(), {
    cut: 1,
    set_aside: 2,
    remarks: `1: a, b; x \ufffd: set aside, no; ${'i'.repeat(64)}…: set aside, no`,
  })
  for (const id of ['4', '5', '6', '7']) remarks.cut(id, ['c'])
  assert.match(remarks.counts().remarks!, /; 4: c; 5: c; and 2 more$/)
  assert.deepEqual([remarks.counts().cut, remarks.counts().set_aside], [5, 2])
})

test('a record never has the database’s own words', () => {
  const error = (code: string, message = 'value "secret" of table t') =>
    Object.assign(new Error(message), { code })
  assert.equal(reasonOf(error('22001')), 'A value is outside what can be stored.')
  assert.equal(reasonOf(error('57P01')), 'The database does not answer. Try again shortly.')
  assert.equal(reasonOf(error('42703')), 'The database refused a statement: the log says why.')
  assert.equal(reasonOf(error('not_found', 'the provider said no')), 'the provider said no')
  assert.equal(reasonOf('x'.repeat(2_000)).length, 1_000)
  assert.deepEqual(
    ['22001', '54000', '23505', '08006'].map(code => isRefusedValue(error(code))),
    [true, true, false, false],
  )
  assert.equal(isRefusedValue(new Error('x')), false)
})
