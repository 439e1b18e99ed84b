// Decides how what the sandbox knows outlives its process: one JSON file, always whole. It is written beside its place and
// renamed into it, before the answer to the request that changed something leaves.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export type KeptFile<T> = { read(): T | undefined; write(content: T): void }

/** `form` changes with what is written: a file of another form is put aside. */
export function keptFile<T>(path: string, form: number): KeptFile<T> {
  return {
    read() {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      try {
        const kept = JSON.parse(text) as { form: number; content: T }
        if (kept.form === form) return kept.content
      } catch {
        // No JSON: somebody has edited it.
      }
      renameSync(path, `${path}.unreadable`)
      return undefined
    },
    write(content) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(`${path}.part`, JSON.stringify({ form, content }), { mode: 0o600 })
      renameSync(`${path}.part`, path)
    },
  }
}
