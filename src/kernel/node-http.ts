// Node's own HTTP, which is not imported: an import reads every name of the module, and behind some of them stands all of
// fetch. That is a third of what a command takes.
export const http = process.getBuiltinModule('node:http')
export const https = process.getBuiltinModule('node:https')
