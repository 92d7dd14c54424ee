/** A tiny embedding service on this machine, that speaks OpenAI's language. Its vectors tell how often which letters come. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Request {
  readonly authorization: string | undefined
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
}

export class EmbeddingServer {
  readonly requests: Request[] = []
  readonly #server: Server = createServer((request, response) => {
    void read(request).then((text) => {
      const { model, input, dimensions } = JSON.parse(text) as { model: string, input: string[], dimensions?: number }
      this.requests.push({ authorization: request.headers.authorization, model, texts: input, dimensions })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', model, data: input.map((each, index) => ({ object: 'embedding', index, embedding: vectorOf(each, dimensions ?? 26) })) }))
    })
  })

  async start(): Promise<string> {
    await new Promise<void>((done) => { this.#server.listen(0, '127.0.0.1', done) })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => { this.#server.close(done) })
  }
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
