// Decides how a request body is read: field by field, refusing what the provider would refuse, with its
// status for a bad body (422) and never with a type error.
import type { FastifyRequest } from 'fastify'
import { unprocessable } from './errors.ts'

export class Body {
  readonly fields: Record<string, unknown>

  constructor(request: FastifyRequest) {
    const body = request.body ?? {}
    if (typeof body !== 'object' || Array.isArray(body))
      throw unprocessable('The request body must be an object.')
    this.fields = body as Record<string, unknown>
  }

  text(name: string): string {
    const value = this.maybeText(name)
    if (value === undefined || value === '') throw unprocessable(`${name} is required.`)
    return value
  }

  maybeText(name: string): string | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw unprocessable(`${name} must be a string.`)
    return value
  }

  whole(name: string): number {
    const value = this.maybeWhole(name)
    if (value === undefined) throw unprocessable(`${name} is required.`)
    return value
  }

  maybeWhole(name: string): number | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (!Number.isSafeInteger(value)) throw unprocessable(`${name} must be an integer.`)
    return value as number
  }

  flag(name: string): boolean {
    return this.fields[name] === true
  }

  texts(name: string): string[] {
    return this.#list(name, item => typeof item === 'string', 'strings')
  }

  wholes(name: string): number[] {
    return this.#list(name, item => Number.isSafeInteger(item), 'integers')
  }

  objects(name: string): Record<string, unknown>[] {
    return this.#list(name, item => typeof item === 'object' && item !== null, 'objects')
  }

  tags(): string[] {
    const tags = this.texts('tags')
    for (const tag of tags) checkTag(tag)
    return [...new Set(tags)]
  }

  #list<T>(name: string, passes: (item: unknown) => boolean, what: string): T[] {
    const value = this.fields[name]
    if (value === undefined || value === null) return []
    if (!Array.isArray(value) || !value.every(passes))
      throw unprocessable(`${name} must be a list of ${what}.`)
    return value as T[]
  }
}

export function checkTag(tag: string): void {
  if (!/^[a-zA-Z0-9_:-]{1,255}$/.test(tag)) throw unprocessable(`The tag name '${tag}' is invalid.`)
}
