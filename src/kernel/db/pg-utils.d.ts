// What node-postgres writes a statement's values with; its types do not declare it.
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(this: void, value: unknown): string | Buffer | null }
  export default utils
}
