import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { AgentError, type Maybe } from "../../src/index.js";

const LOOPBACK = "127.0.0.1";
/** Longest body that is passed on. */
const BODY_BYTES = 1_048_576;
/** The sealed record of a message, as JSON has it. */
const RECORD = /"raw":"([A-Za-z0-9+/=]{64,})"/;

/** The byte that was changed. */
export interface FlippedByte {
  /** Counted from the start of the body. */
  readonly at: number;
  readonly bytes: number;
  readonly from: string;
  readonly to: string;
}

/** A proxy on the way to a server. It passes everything on, and changes one byte of the next sealed message when it is told to. */
export class AlteringProxy {
  readonly url: string;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  #flipped: Maybe<(byte: FlippedByte) => void>;

  private constructor(server: Server, port: number, targetPort: number) {
    this.url = `http://${LOOPBACK}:${port}`;
    this.#target = { host: LOOPBACK, port: targetPort };
    this.#server = server.on("request", (incoming, outgoing) => void this.#pass(incoming, outgoing));
  }

  static async open(port: number, targetPort: number): Promise<AlteringProxy> {
    const server = createServer().listen(port, LOOPBACK);
    await once(server, "listening");
    return new AlteringProxy(server, port, targetPort);
  }

  /** Changes one byte of the next sealed message; `done` gets it. The returned function takes that back. */
  flipNext(done: (byte: FlippedByte) => void): () => void {
    if (this.#flipped !== undefined) throw new AgentError("conflict", "A byte is being flipped already");
    this.#flipped = done;
    return () => {
      this.#flipped = undefined;
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
    this.#agent.destroy();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = this.#altered(await bodyOf(incoming));
      const { method, url: path, rawHeaders: headers } = incoming;
      // Header fields stay as they are: the signature covers the host.
      const passed = request({ ...this.#target, method, path, headers, agent: this.#agent, setHost: false });
      outgoing.once("close", () => passed.destroy());
      const answered = once(passed, "response") as Promise<[IncomingMessage]>;
      passed.end(body);
      const [answer] = await answered;
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    } catch {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    }
  }

  #altered(body: Buffer): Buffer {
    const done = this.#flipped;
    const found = done && RECORD.exec(body.toString("latin1"));
    if (done === undefined || found == null) return body;
    this.#flipped = undefined;
    const [whole, record = ""] = found;
    const at = found.index + whole.indexOf(record) + Math.floor(record.length / 2);
    const from = String.fromCharCode(body[at] ?? 0);
    const to = from === "A" ? "B" : "A";
    const changed = Buffer.from(body);
    changed.write(to, at, "latin1");
    done({ at, bytes: body.length, from, to });
    return changed;
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) throw new AgentError("too_large", `The proxy passes on at most ${BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
