// One client's connection through the proxy, and the server's behind it.
import type { Socket } from 'node:net'
import { CommitWatch, type Ended, FirstPackets } from './postgres-frames.ts'

export interface Rules {
  isLost(ended: Ended): boolean
  delayMs(): number
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
    const watch = new CommitWatch()
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
