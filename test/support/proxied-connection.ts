// One client's connection through the proxy, and the server's behind it.
import type { Socket } from 'node:net'

export interface Rules {
  isLost(ended: Ended): boolean
  delayMs(): number
  onAnswer(): void
  onRefused(): void
  onClosed(): void
}

export class ProxiedConnection {
  #client: Socket
  #server: Socket
  #rules: Rules
  #frozen = false
  #ended = false
  /** One side has gone while nothing may be told to the other. */
  #over = false
  #toServer: Line
  #toClient: Line

  constructor(client: Socket, server: Socket, rules: Rules) {
    this.#client = client
    this.#server = server
    this.#rules = rules
    this.#toServer = new Line(server, rules.delayMs)
    this.#toClient = new Line(client, rules.delayMs)
    const watch = new CommitWatch(rules.onAnswer)
    const first = new FirstPackets()
    let connected = false
    server.once('connect', () => {
      connected = true
    })
    client.on('data', chunk => {
      const { refusals, rest } = first.read(chunk)
      for (const refusal of refusals) client.write(refusal)
      if (rest.length === 0) return
      if (first.done) watch.fromClient(rest.subarray(first.startup))
      this.#toServer.send(rest)
    })
    server.on('data', chunk => {
      const { forward, ended } = watch.fromServer(chunk)
      if (ended && rules.isLost(ended)) this.end()
      else if (forward.length > 0) this.#toClient.send(forward)
    })
    for (const socket of [client, server]) {
      socket.on('error', () => {
        if (socket === server && !connected) rules.onRefused()
      })
      const onward = socket === client ? this.#toServer : this.#toClient
      socket.on('end', () => onward.send(null))
      // An orderly end comes after the data that is still on its way.
      socket.on('close', hadError => {
        if (hadError || !onward.waits()) this.#gone()
      })
    }
  }

  freeze(): boolean {
    if (this.#frozen || this.#ended) return false
    this.#frozen = true
    for (const line of [this.#toServer, this.#toClient]) line.hold()
    this.#client.pause()
    this.#server.pause()
    return true
  }

  thaw(how: 'resume' | 'cut'): void {
    if (!this.#frozen) return
    this.#frozen = false
    if (how === 'cut' || this.#over) {
      this.end()
      return
    }
    for (const line of [this.#toServer, this.#toClient]) line.release()
    this.#client.resume()
    this.#server.resume()
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    for (const line of [this.#toServer, this.#toClient]) line.stop()
    this.#client.destroy()
    this.#server.destroy()
    this.#rules.onClosed()
  }

  #gone(): void {
    if (this.#frozen) this.#over = true
    else this.end()
  }
}

/** One direction: sends later when there is a delay, never out of order, and nothing while it is held. */
class Line {
  #socket: Socket
  #delayMs: () => number
  #waiting: { data: Buffer | null; due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #held = false

  constructor(socket: Socket, delayMs: () => number) {
    this.#socket = socket
    this.#delayMs = delayMs
  }

  /** `null` is the end. */
  send(data: Buffer | null): void {
    this.#waiting.push({ data, due: Date.now() + this.#delayMs() })
    this.#next()
  }

  waits(): boolean {
    return this.#waiting.length > 0
  }

  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    this.#next()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#waiting = []
  }

  #next(): void {
    clearTimeout(this.#timer)
    while (!this.#held && this.#waiting.length > 0) {
      const { data, due } = this.#waiting[0]!
      const wait = due - Date.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#next(), wait)
        return
      }
      this.#waiting.shift()
      if (data === null) this.#socket.destroySoon()
      else this.#socket.write(data)
    }
  }
}

/** A transaction ended by `commit`, or a statement that was one by itself. */
export type Ended = 'commit' | 'autocommit'

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const NOTHING = Buffer.alloc(0)

/** What a client sends before the frames with a type begin: requests to encrypt, refused here, and the startup packet. */
export class FirstPackets {
  done = false
  /** How many bytes of the last `rest` belong to the startup packet and not to the frames after it. */
  startup = 0
  #buffer: Buffer = NOTHING

  read(chunk: Buffer): { refusals: Buffer[]; rest: Buffer } {
    if (this.done) {
      this.startup = 0
      return { refusals: [], rest: chunk }
    }
    this.#buffer = Buffer.concat([this.#buffer, chunk])
    const refusals: Buffer[] = []
    while (this.#buffer.length >= 8 && this.#buffer.length >= this.#buffer.readUInt32BE(0)) {
      const code = this.#buffer.readUInt32BE(4)
      if (code !== SSL_REQUEST && code !== GSS_REQUEST) {
        this.done = true
        this.startup = this.#buffer.readUInt32BE(0)
        return { refusals, rest: this.#buffer }
      }
      refusals.push(Buffer.from('N'))
      this.#buffer = this.#buffer.subarray(8)
    }
    return { refusals, rest: NOTHING }
  }
}

interface Frame {
  type: string
  body: Buffer
  whole: Buffer
}

/** Puts frames together that arrive in pieces: one byte of type, four of length, the length without the type. */
class Frames {
  #buffer: Buffer = NOTHING

  read(chunk: Buffer): Frame[] {
    const frames: Frame[] = []
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    while (this.#buffer.length >= 5) {
      const length = 1 + this.#buffer.readUInt32BE(1)
      if (this.#buffer.length < length) break
      const whole = this.#buffer.subarray(0, length)
      this.#buffer = this.#buffer.subarray(length)
      frames.push({ type: String.fromCharCode(whole[0]!), body: whole.subarray(5), whole })
    }
    return frames
  }
}

/** A SELECT may write through a common table expression: then its text says so. */
const WRITING = /\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\S+\s+(?:as\s+\S+\s+)?set\b/i

/** Follows both directions of one connection. */
export class CommitWatch {
  #client = new Frames()
  #server = new Frames()
  #prepared = new Map<string, string>()
  /** Texts since the last Sync, and those of each round trip that is not answered yet. */
  #texts: string[] = []
  #asked: string[][] = []
  /** From a command's completion on, until the server says in which state it is: only then it has committed. */
  #held: Buffer[] = []
  #tags: string[] = []
  #wrote = false
  #onAnswer: () => void

  constructor(onAnswer = () => {}) {
    this.#onAnswer = onAnswer
  }

  fromClient(chunk: Buffer): void {
    for (const { type, body } of this.#client.read(chunk)) {
      const [first, second] = texts(body)
      if (type === 'Q') this.#asked.push([first])
      else if (type === 'P') this.#prepared.set(first, second)
      else if (type === 'B') this.#texts.push(this.#prepared.get(second) ?? '')
      else if (type === 'S') this.#asked.push(this.#texts.splice(0))
    }
  }

  /** What the client may have now, and what has just been committed. */
  fromServer(chunk: Buffer): { forward: Buffer; ended?: Ended } {
    const forward: Buffer[] = []
    let ended: Ended | undefined
    for (const { type, body, whole } of this.#server.read(chunk)) {
      if (type === 'C') this.#tags.push(texts(body)[0])
      if (type === 'C' || this.#held.length > 0) this.#held.push(whole)
      else forward.push(whole)
      if (type !== 'Z') continue
      this.#onAnswer()
      ended = this.#readyForQuery(String.fromCharCode(body[0]!)) ?? ended
      forward.push(...this.#held.splice(0))
    }
    return { forward: Buffer.concat(forward), ended }
  }

  #readyForQuery(state: string): Ended | undefined {
    const asked = this.#asked.shift() ?? []
    const tags = this.#tags.splice(0)
    this.#wrote ||= tags.some(tag => {
      const [command, rows] = [tag.split(' ')[0], tag.split(' ').at(-1)]
      if (command === 'SELECT') return asked.some(text => WRITING.test(text))
      return ['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY'].includes(command!) && rows !== '0'
    })
    if (state !== 'I') return undefined
    const wrote = this.#wrote && !tags.includes('ROLLBACK')
    this.#wrote = false
    if (!wrote) return undefined
    return tags.includes('COMMIT') ? 'commit' : 'autocommit'
  }
}

/** The first two strings of a frame, each ended by a zero byte. */
function texts(body: Buffer): [string, string] {
  const end = body.indexOf(0)
  if (end < 0) return ['', '']
  const next = body.indexOf(0, end + 1)
  return [body.toString('utf8', 0, end), next < 0 ? '' : body.toString('utf8', end + 1, next)]
}
