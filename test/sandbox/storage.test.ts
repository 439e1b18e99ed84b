// The simulated S3-compatible service: it takes what S3 would take, and nothing else.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { refusalOf } from '../../sandbox/storage/verify-signature.ts'

const keys = {
  // The example credentials that AWS publishes.
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const now = new Date('2013-05-24T00:05:00Z')
const SIGNATURE = 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'
const headers = {
  host: 'examplebucket.s3.amazonaws.com',
  range: 'bytes=0-9',
  'x-amz-content-sha256': createHash('sha256').digest('hex'),
  'x-amz-date': '20130524T000000Z',
  authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=${SIGNATURE}`,
}
const good = { method: 'GET', url: '/test.txt', headers }

test('the store knows the signed example of the S3 documentation, and refuses every change of it', () => {
  const code = (request: object, at = now) => refusalOf(request as IncomingMessage, keys, at)?.code
  const other = (more: Partial<typeof headers>) => ({ ...good, headers: { ...headers, ...more } })
  const signed = (from: string, to: string) =>
    other({ authorization: headers.authorization.replace(from, to) })
  assert.equal(code(good), undefined)
  for (const request of [
    { ...good, method: 'PUT' },
    { ...good, url: '/test.txt2' },
    { ...good, url: '/test.txt?x=1' },
    other({ range: 'bytes=0-10' }),
    other({ host: 'other' }),
    other({ 'x-amz-content-sha256': createHash('sha256').update('x').digest('hex') }),
    other({ 'x-amz-date': '20130524T000001Z' }),
    signed(SIGNATURE, SIGNATURE.replace('f0', 'f1')),
  ])
    assert.equal(code(request), 'SignatureDoesNotMatch', JSON.stringify(request))
  assert.equal(code(other({ authorization: '' })), 'AccessDenied')
  assert.equal(code(signed('AKIA', 'OTHER')), 'InvalidAccessKeyId')
  assert.equal(code(signed('us-east-1', 'us-east-2')), 'AuthorizationHeaderMalformed')
  assert.equal(code(signed(';x-amz-content-sha256', '')), 'AuthorizationHeaderMalformed')
  assert.equal(code(good, new Date('2013-05-24T00:16:00Z')), 'RequestTimeTooSkewed')
  assert.equal(code(signed('20130524', '20130525')), 'RequestTimeTooSkewed')
})
