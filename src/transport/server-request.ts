import type { Admitted, AgentError, Awaitable, Call, Cancel, Maybe } from "../envelope/index.js";
import type { Connection, HttpHeaders, HttpRequest, UnreadRequest } from "./exchange.js";
import { type JsonLimits, readJson } from "./json.js";

const NO_BODY = new Uint8Array(0);

/** A request as a server receives it: first its head, then its body or the reason why the body is not read. */
export abstract class ServerRequest implements HttpRequest, UnreadRequest {
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  abstract readonly target: string;
  abstract readonly headers: HttpHeaders;
  abstract readonly rawHeaders: readonly string[];
  abstract readonly connection: Connection;
  abstract readonly cancel: Cancel;
  readonly hasBody: boolean;
  call: Maybe<Call> = undefined;
  admitted: Maybe<Awaitable<Admitted>> = undefined;
  bodyWanted = false;
  arriving: Maybe<AsyncIterable<Uint8Array>> = undefined;
  readonly #limits: JsonLimits;
  #body: Uint8Array = NO_BODY;
  #refused: AgentError | undefined;
  #json: unknown;
  #parsed = false;
  bodyBytes = 0;

  constructor(limits: JsonLimits, hasBody: boolean) {
    this.#limits = limits;
    this.hasBody = hasBody;
  }

  /** Only clients sign requests. */
  get signer(): undefined {
    return undefined;
  }

  get body(): Uint8Array {
    if (this.#refused === undefined) return this.#body;
    this.bodyWanted = true;
    throw this.#refused;
  }

  json(): unknown {
    if (!this.#parsed) {
      this.#json = readJson(this.body, this.#limits);
      this.#parsed = true;
    }
    return this.#json;
  }

  /** The complete body has arrived. */
  receiveBody(body: Uint8Array): this {
    this.#body = body;
    this.bodyBytes = body.length;
    return this;
  }

  get holdsBody(): boolean {
    return this.#body.length > 0;
  }

  forgetBody(): void {
    this.#body = NO_BODY;
    this.#json = undefined;
    this.#parsed = false;
  }

  refuseBody(reason: AgentError): this {
    this.#refused = reason;
    return this;
  }
}
