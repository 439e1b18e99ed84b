// Equal schemas are compiled once for the process, however many routes (or, in tests, apps) use them: compiling is most
// of what building the app costs.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

export function once<Compiled>(): (schema: unknown, compile: () => Compiled) => Compiled {
  const compiled = new Map<string, Compiled>()
  return (schema, compile) => {
    const key = JSON.stringify(schema)
    const known = compiled.get(key)
    if (known) return known
    const fresh = compile()
    compiled.set(key, fresh)
    return fresh
  }
}

type Factory = ReturnType<typeof SerializerSelector>
const serializers = once<ReturnType<ReturnType<Factory>>>()

/** Fastify's own serializers; the schemas they may refer to are the same in every app. */
export const buildSerializer: Factory = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return route => serializers(route.schema, () => compile(route))
}
