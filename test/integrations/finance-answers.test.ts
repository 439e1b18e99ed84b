// What finance answers, read: receipts, refusals, and text that is fit to be shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FinanceError, faultOf, readReceipt, readRefusal } from '../../src/integrations/finance/receipt.ts'
import { fitForDisplay } from '../../src/kernel/http-client.ts'

test('a receipt has the invoice’s id, as text or a number, and what was done, with an envelope or without', () => {
  const receipts: [answer: unknown, id: string, action: string][] = [
    [{ data: { id: 'a', action: 'created' } }, 'a', 'created'],
    [{ id: 7, action: 'updated' }, '7', 'updated'],
    [{ invoice_id: 'b', action: 'updated', data: [] }, 'b', 'updated'],
    [{ id: 'x'.repeat(255), action: 'created' }, 'x'.repeat(255), 'created'],
  ]
  for (const [answer, id, action] of receipts)
    assert.deepEqual(readReceipt(JSON.stringify(answer), 200), { id, action })
  for (const answer of [
    {},
    { id: 'a' },
    { action: 'created' },
    { id: '', action: 'created' },
    { id: 1.5, action: 'created' },
    { id: 'x'.repeat(256), action: 'created' },
    { id: 'a\0', action: 'created' },
    { id: '\ud800', action: 'created' },
    { id: true, action: 'created' },
    { id: 'a', action: 'deleted' },
    { data: null, action: 'created' },
  ])
    assert.throws(() => readReceipt(JSON.stringify(answer), 201), {
      name: 'FinanceError',
      fault: 'malformed',
      status: 201,
      message: 'finance answered 201 without an invoice id and an action',
    })
  for (const text of ['', 'ok', '[]', 'null', '"x"', '7'])
    assert.throws(() => readReceipt(text, 200), { message: 'finance answered 200 that is not a JSON object' })
})

test('a complaint is found in any of the usual places', () => {
  const complaints: [answer: unknown, words: string | undefined][] = [
    [{ error: { code: 'closed', message: 'It is closed.' } }, 'closed: It is closed.'],
    [{ code: 'c', detail: 'd', title: 't' }, 'c: d'],
    [{ title: 't' }, 't'],
    [{ message: 'm', detail: 'd' }, 'm'],
    [{ error: 'unauthorized' }, 'unauthorized'],
    [{ error: 'e', code: '' }, 'e'],
    [{ code: 5, message: [] }, undefined],
    [{}, undefined],
    [[], undefined],
  ]
  for (const [answer, words] of complaints) assert.equal(readRefusal(JSON.stringify(answer)), words)
  assert.equal(readRefusal('<html>'), undefined)
})

test('the invoice is at fault with 400, 413 and 422; the rest may pass', () => {
  const faults = { refused: [400, 413, 422], unauthorized: [401, 403], conflict: [409] }
  for (const [fault, statuses] of Object.entries(faults))
    for (const status of [...statuses, ...statuses]) assert.equal(faultOf(status), fault, String(status))
  for (const status of [302, 404, 429, 500, 503]) assert.equal(faultOf(status), 'unavailable')
  assert.equal(new FinanceError('x', 'unavailable').status, null)
})

test('text from outside is one line of 300 characters, without the token', () => {
  assert.equal(fitForDisplay(' a\r\n\0b tok tok ', 'tok'), 'a b [token] [token]')
  assert.equal(fitForDisplay('x'.repeat(300), 'tok'), 'x'.repeat(300))
  assert.equal(fitForDisplay('x'.repeat(301), 'tok'), `${'x'.repeat(300)}…`)
})
