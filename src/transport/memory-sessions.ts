import { AgentError, CancelSource } from "../envelope/index.js";
import { abandon, decideUpgrade } from "./decide-upgrade.js";
import type { HttpRequest, HttpResponse, Intake, Session, Upgraded } from "./exchange.js";
import { isRefusal, runSession } from "./intake.js";
import type { Limits } from "./limits.js";
import { MemoryRequest } from "./memory-request.js";
import { MemorySession } from "./memory-session.js";
import { refusalBody, refusedUpgrade } from "./refused-upgrade.js";
import { changeRequest, makeRequest } from "./request.js";
import { SessionGroup } from "./session-group.js";
import { areSubprotocols, httpForm, upgradeFields } from "./upgrade-request.js";

/** Sessions with a server in the same process: the handshake, its refusals and its limits as over a socket. */
export class MemorySessions {
  readonly #intake: Intake;
  readonly #limits: Limits;
  readonly #onError: (thrown: unknown) => void;
  readonly #sessions = new SessionGroup();
  /** Handshakes under way, each by the function that ends it. */
  readonly #opening = new Set<(reason: AgentError) => void>();
  #isClosed = false;

  constructor(intake: Intake, limits: Limits, onError: (thrown: unknown) => void) {
    this.#intake = intake;
    this.#limits = limits;
    this.#onError = onError;
  }

  async open(request: HttpRequest, subprotocols: readonly string[]): Promise<Session> {
    const { signer } = request;
    const plain = upgradeRequest(request, subprotocols);
    const fields = await signer?.sign(plain);
    const final = fields === undefined ? plain : changeRequest(plain, { headers: { ...plain.headers, ...fields } });
    const cancel = new CancelSource();
    const head = new MemoryRequest(final, cancel, this.#limits);
    const upgraded = await this.#ask(head, cancel, request);
    try {
      if (subprotocols.length > 0 && upgraded.subprotocol === undefined) {
        throw new AgentError("bad_peer", `${hostOf(head)} selected none of the offered subprotocols`, { sent: "no" });
      }
      await signer?.verify?.({ status: 101, headers: upgraded.headers, body: undefined }, final);
    } catch (thrown) {
      cancel.cancel(AgentError.from(thrown));
      abandon(upgraded, this.#onError);
      throw thrown;
    }
    return this.#join(request, head, cancel, upgraded);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#opening) end(new AgentError("unavailable", "the link is closed", { sent: "no" }));
    await this.#sessions.drain("the client is closing", this.#limits.drainMs);
  }

  async #ask(head: MemoryRequest, cancel: CancelSource, request: HttpRequest): Promise<Upgraded> {
    if (request.cancel.reason !== undefined) throw request.cancel.reason;
    if (this.#isClosed) throw new AgentError("unavailable", "the link is closed", { sent: "no" });
    const open = this.#sessions.size + this.#opening.size;
    if (open >= this.#limits.connections) throw new AgentError("overloaded", `${open} sessions are already open`, { sent: "no" });
    const answer = await this.#decision(head, cancel, request);
    if (!isRefusal(answer)) return answer;
    const body = await refusalBody(answer.body);
    throw refusedUpgrade(hostOf(head), { status: answer.status, headers: answer.headers, body });
  }

  #decision(head: MemoryRequest, cancel: CancelSource, request: HttpRequest): Promise<Upgraded | HttpResponse> {
    return new Promise((resolve, reject) => {
      const end = (reason: AgentError): void => {
        withdraw(new AgentError("cancelled", "the caller disconnected"));
        this.#opening.delete(end);
        reject(reason);
      };
      let off = (): void => undefined;
      let withdraw: (reason: AgentError) => void = () => undefined;
      this.#opening.add(end);
      withdraw = decideUpgrade({
        intake: this.#intake,
        head,
        limits: this.#limits,
        cancel: (reason) => cancel.cancel(reason),
        decided: (answer) => {
          off();
          this.#opening.delete(end);
          resolve(answer);
        },
        onError: this.#onError,
      });
      if (this.#opening.has(end)) off = request.cancel.onCancel(end);
    });
  }

  #join(request: HttpRequest, head: MemoryRequest, cancel: CancelSource, upgraded: Upgraded): Session {
    const both = { subprotocol: upgraded.subprotocol ?? "", limits: this.#limits, onError: this.#onError };
    const [client, server] = MemorySession.pair(
      { ...both, request, accepted: false, ended: () => this.#sessions.delete(client) },
      { ...both, request: head, accepted: true, ended: () => cancel.cancel(new AgentError("cancelled", "the session ended")) },
    );
    this.#sessions.add(client);
    runSession(upgraded, server, this.#onError);
    if (this.#isClosed) client.shutDown("the client is closing");
    return client;
  }
}

/** The request as it would be written on a socket. */
function upgradeRequest(request: HttpRequest, subprotocols: readonly string[]): HttpRequest {
  const url = httpForm(request.target);
  if (!areSubprotocols(subprotocols)) {
    throw new AgentError("invalid_message", `invalid subprotocols: ${subprotocols.join(", ")}`, { sent: "no" });
  }
  const headers: Record<string, string> = {
    ...upgradeFields(request.headers),
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16)))),
  };
  if (subprotocols.length > 0) headers["sec-websocket-protocol"] = subprotocols.join(",");
  const { call, cancel, connection } = request;
  return makeRequest({ method: "GET", url, headers, call, cancel, connection });
}

function hostOf({ headers }: MemoryRequest): string {
  return headers["host"] ?? "";
}
