// The service as it runs in production: the API process with its real configuration, log and listener.
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/serve.ts'
import { serving } from '../server-process.ts'

const { config } = readConfig({ ...process.env, PORT: '0', MANAGEMENT_PORT: '0' })
const { url } = await start(config, { api: true, worker: false })
serving(url!)
