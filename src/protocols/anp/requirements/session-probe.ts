import { AgentError, CancelSource, isObject, type JsonObject } from "../../../envelope/index.js";
import { createIdentity, createResolver, type Identity, readDidDocument } from "../../../security/identity/index.js";
import type { SealedChannel } from "../../../security/sealed-records/index.js";
import type { Chunk, Session } from "../../../transport/exchange.js";
import { ask } from "../../ask.js";
import { demand, demandString, skip } from "../../check.js";
import { SESSION_PROTOCOL } from "../codec/description.js";
import { didWbaUrl } from "../identity/did-wba.js";
import { type InitiatingSide, initiate, type Recipient } from "../session/handshake.js";
import { withinTime } from "../session/messages.js";
import { readSessionUrl, SUBPROTOCOL } from "../session/profile.js";
import { KINDS, openKind, sealKind } from "../session/record-kinds.js";
import { interfacesIn, type Probe } from "./probe.js";

/** The address of the session in the description. Skips if none is described. */
export function sessionAddress({ description, at }: Probe): string {
  const found = interfacesIn(description).find(({ protocol }) => protocol === SESSION_PROTOCOL);
  if (found === undefined) skip("no session is described: the server has no identity");
  const url = demandString(found["url"], "interfaces[].url of the session");
  demand(URL.canParse(url, at) && /^wss?:$/.test(new URL(url, at).protocol), `the session is at ${url}`);
  return url;
}

/** What is changed of a correct handshake. */
export interface Changed {
  /** Each message of the client, as it is sent. Default: unchanged. */
  readonly sent?: (frame: Chunk, index: number) => Chunk;
  readonly to?: Partial<Recipient>;
  readonly side?: Partial<InitiatingSide>;
  /** Milliseconds that the clock of the client is ahead. */
  readonly ahead?: number;
}

/** A session with a server whose messages can be changed. */
export class ProbedSession {
  readonly #session: Session;
  readonly #frames: AsyncIterator<Chunk>;
  readonly #received: Chunk[] = [];

  private constructor(session: Session) {
    this.#session = session;
    this.#frames = session.frames[Symbol.asyncIterator]();
  }

  /** Opens the connection; the handshake follows. Skips if the endpoint cannot be tested with sessions. */
  static async open(probe: Probe): Promise<ProbedSession> {
    const { openSession } = probe.subject;
    if (openSession === undefined) return skip("this run opens no sessions");
    return new ProbedSession(await openSession(sessionAddress(probe), [SUBPROTOCOL]));
  }

  /** Throws as a client does if the handshake fails. */
  shake(probe: Probe, { sent = (frame) => frame, to = {}, side = {}, ahead = 0 }: Changed = {}): Promise<SealedChannel> {
    const { did, authority, path } = readSessionUrl(sessionAddress(probe));
    const identity: Identity = probe.subject.caller?.identity ?? createIdentity({ name: "conformance", did: "key" });
    const cancel = new CancelSource();
    const context = { resolver: documentsOf(probe), now: () => Date.now() + ahead };
    return withinTime(this.#session, { next: () => this.#next() }, cancel, ({ send, next }) => {
      let index = 0;
      const recipient = { did: did ?? "", authority, path, ...to };
      return initiate({ next, send: (frame) => send(sent(frame, index++)) }, { context, identity, cancel, ...side }, recipient);
    });
  }

  async #next(): Promise<IteratorResult<Chunk>> {
    const step = await this.#frames.next();
    if (step.done !== true) this.#received.push(step.value);
    return step;
  }

  send(frame: Chunk): void {
    this.#session.send(frame)?.catch(() => undefined); // `closed` says it
  }

  /** Calls a method inside the session. */
  async call(channel: SealedChannel, request: JsonObject): Promise<JsonObject> {
    this.send(sealKind(channel, KINDS.text, Buffer.from(JSON.stringify(request))));
    const { value, done } = await this.#next();
    demand(done !== true, "the session ended without an answer");
    const answer: unknown = JSON.parse(Buffer.from(openKind(channel, value).subarray(1)).toString("utf8"));
    demand(isObject(answer), "the answer is no object");
    return answer;
  }

  /** The code that the server closed with, once nothing more arrives. What arrives until then is counted. */
  async ended(): Promise<{ readonly code: number; readonly messages: number }> {
    let messages = 0;
    for (let step = await this.#next(); step.done !== true; step = await this.#next()) messages++;
    return { code: (await this.#session.closed).code, messages };
  }

  /** The reason in the refusal of the server. Empty if there was none. */
  get refusal(): string {
    const last = this.#received.at(-1);
    const answer: unknown = typeof last === "string" ? JSON.parse(last) : undefined;
    const error = isObject(answer) && isObject(answer["error"]) ? answer["error"] : {};
    const data = isObject(error["data"]) ? error["data"] : {};
    const details = isObject(data["details"]) ? data["details"] : {};
    return typeof details["reason"] === "string" ? details["reason"] : "";
  }

  close(): void {
    this.#session.close(1000, "");
  }
}

/** Runs a handshake that the server must refuse, and demands its reason. */
export async function demandRefused(probe: Probe, reason: string, changed: Changed): Promise<void> {
  const session = await ProbedSession.open(probe);
  try {
    await session.shake(probe, changed);
  } catch {
    const { code } = await session.ended();
    demand(session.refusal === reason, `refused as ${session.refusal === "" ? "nothing" : session.refusal}, not as ${reason}`);
    demand(code === 1008, `closed with ${code}`);
    return;
  }
  session.close();
  demand(false, "the handshake succeeded");
}

/** The reason why a client gives a handshake up. */
export function reasonIn(thrown: unknown): unknown {
  return AgentError.from(thrown).facts.detail?.["reason"];
}

/** Finds the document of the server with the exchange of the run: at its own host, or on this machine. */
function documentsOf({ subject }: Probe): InitiatingSide["context"]["resolver"] {
  return {
    async resolve(did, cancel) {
      const url = didWbaUrl(did, { loopbackHttp: true });
      if (url === undefined) return createResolver().resolve(did, cancel);
      const { bytes } = await ask(subject, { method: "GET", url });
      const observedAt = Date.now();
      return { document: readDidDocument(bytes, did, observedAt), observedAt };
    },
    forget: () => undefined,
  };
}
