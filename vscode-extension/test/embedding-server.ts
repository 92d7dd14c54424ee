/** A tiny embedding service on this machine, that speaks OpenAI's language. Its vectors tell how often which letters come. */

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'

export interface Request {
  readonly authorization: string | undefined
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
}

/** In PEM. */
export interface Certificate { readonly key: string, readonly cert: string }

export class EmbeddingServer {
  readonly requests: Request[] = []
  readonly #scheme: string
  readonly #server: Server

  /** With a certificate it speaks TLS. */
  constructor(certificate?: Certificate) {
    const answer: RequestListener = (request, response) => {
      void read(request).then((text) => {
        const { model, input, dimensions } = JSON.parse(text) as { model: string, input: string[], dimensions?: number }
        this.requests.push({ authorization: request.headers.authorization, model, texts: input, dimensions })
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ object: 'list', model, data: input.map((each, index) => ({ object: 'embedding', index, embedding: vectorOf(each, dimensions ?? 26) })) }))
      })
    }
    this.#scheme = certificate === undefined ? 'http' : 'https'
    this.#server = certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer)
  }

  get port(): number { return (this.#server.address() as AddressInfo).port }

  async start(): Promise<string> {
    await listen(this.#server)
    return `${this.#scheme}://127.0.0.1:${this.port}/v1`
  }

  async stop(): Promise<void> {
    await close(this.#server)
  }
}

/** A proxy on this machine: whatever host is asked for, it connects to one port here. */
export class Proxy {
  /** `host:port` of each connection. */
  readonly asked: string[] = []
  readonly #server: Server

  constructor(port: () => number) {
    this.#server = createServer().on('connect', (request: IncomingMessage, client: Socket) => {
      this.asked.push(request.url ?? '')
      const server = connect(port(), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        server.pipe(client).pipe(server)
      })
      client.on('error', () => server.destroy())
      server.on('error', () => client.destroy())
    })
  }

  async start(): Promise<string> {
    await listen(this.#server)
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    await close(this.#server)
  }
}

const listen = (server: Server): Promise<void> => new Promise((done) => { server.listen(0, '127.0.0.1', done) })

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((done) => { server.close(done) })
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) {
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString('utf8')
}

function vectorOf(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.01)
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97
    if (place >= 0 && place < 26) {
      vector[place % dimensions] = (vector[place % dimensions] ?? 0) + 1
    }
  }
  return vector
}
