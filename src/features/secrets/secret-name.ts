// What a secret may be called, and which names mean a queue's provider token.
import { QUEUE_NAMES, type QueueName } from '../../kernel/queue/queues.ts'

export const LONGEST_NAME = 128
export const NAME_PATTERN = '^[a-z0-9_-]+(/[a-z0-9_-]+)?$'
export const PART_PATTERN = '^[a-z0-9_-]+$'
export const TOKEN_PREFIX = 'provider_token/'

const pattern = new RegExp(NAME_PATTERN)

export const isSecretName = (name: string): boolean => name.length <= LONGEST_NAME && pattern.test(name)

export const isTokenSecret = (name: string): boolean => name.startsWith(TOKEN_PREFIX)

/** The secret that holds a queue's provider token. */
export const tokenSecret = (queue: QueueName): string => TOKEN_PREFIX + queue

/** Undefined when the name is no provider token's, or that of a queue that does not exist. */
export const queueOf = (name: string): QueueName | undefined =>
  QUEUE_NAMES.find(queue => tokenSecret(queue) === name)
