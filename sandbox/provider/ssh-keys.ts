// Decides how SSH keys are kept: found by id or by fingerprint, and each public key only once.
import type { FastifyInstance } from 'fastify'
import { buildSshKey } from '../world/network.ts'
import { addResource } from '../world/world.ts'
import { Body } from './body.ts'
import { unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import type { Provider } from './server.ts'

export function sshKeyRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  const shelf = world.shelves.ssh_key
  const byFingerprint = (fingerprint: string) => shelf.filter(key => key.fingerprint === fingerprint)[0]

  familyRoutes(app, provider, {
    kind: 'ssh_key',
    path: '/v2/account/keys',
    one: 'ssh_key',
    many: 'ssh_keys',
    find: id => shelf.get(id) ?? byFingerprint(id),
  })

  app.post('/v2/account/keys', async (request, reply) => {
    const body = new Body(request)
    const key = buildSshKey(world.ids.number(), body.text('name'), body.text('public_key'))
    if (!/^(ssh-|ecdsa-)\S+ \S+/.test(key.public_key))
      throw unprocessable('Key invalid, key should be of the format `ssh-rsa key`')
    if (byFingerprint(key.fingerprint!) !== undefined)
      throw unprocessable('SSH Key is already in use on your account')
    reply.code(201)
    return { ssh_key: addResource(world, 'ssh_key', key, { now: clock.now() }) }
  })
}
