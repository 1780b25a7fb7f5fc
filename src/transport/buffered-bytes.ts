import { type Admitted, AgentError, type Awaitable, Counts, type Maybe, subjectOf } from "../envelope/index.js";
import type { HttpResponse, RequestHead } from "./exchange.js";
import type { Limits } from "./limits.js";
import { errorResponse } from "./response.js";

/** What bounds the bodies in memory. */
export type BufferLimits = Pick<Limits, "unadmittedBytes" | "bufferedBytes" | "bufferedBytesPerCaller">;

/** In this process, over all servers. */
let total = 0;
let unadmitted = 0;
const byCaller = new Counts();

/**
 * The bytes that one request or session holds in memory, within limits for the whole process and for each caller over all tenants. Until
 * the caller is authenticated they count in `unadmittedBytes` instead of a caller's share.
 */
export class BufferedBytes {
  readonly #limits: BufferLimits;
  /** Undefined: not authenticated yet. Empty: a server without authentication. */
  #caller: Maybe<string>;
  #held = 0;

  constructor(limits: BufferLimits, caller: Maybe<string>) {
    this.#limits = limits;
    this.#caller = caller;
  }

  /** False above a limit; the bytes are then not counted. */
  add(bytes: number): boolean {
    if (bytes > 0 && this.isFull(bytes)) return false;
    this.count(bytes);
    return true;
  }

  /** Whether `bytes` more exceed a limit. */
  isFull(bytes: number): boolean {
    const { unadmittedBytes, bufferedBytes, bufferedBytesPerCaller } = this.#limits;
    const caller = this.#caller;
    if (total + bytes > bufferedBytes) return true;
    if (caller === undefined) return unadmitted + bytes > unadmittedBytes;
    return caller !== "" && byCaller.of(caller) + bytes > bufferedBytesPerCaller;
  }

  /** Counts without asking: for what is in memory already. Negative when some of it is gone. */
  count(bytes: number): void {
    total += bytes;
    this.#held += bytes;
    this.#share(bytes);
  }

  /** The caller is authenticated: from now on the bytes are its own. */
  admit(caller: string): void {
    if (this.#caller !== undefined) return;
    this.#share(-this.#held);
    this.#caller = caller;
    this.#share(this.#held);
  }

  /** The request has ended or its caller has disconnected. */
  release(): void {
    if (this.#held !== 0) this.count(-this.#held);
  }

  #share(bytes: number): void {
    const caller = this.#caller;
    if (caller === undefined) unadmitted += bytes;
    else if (caller !== "") byCaller.add(caller, bytes);
  }

  problem(): AgentError {
    return this.#caller === undefined
      ? new AgentError("overloaded", "too many requests wait for authentication; try again later", { retryAfterMs: 1_000 })
      : new AgentError("unavailable", "too many request bodies are in memory; try again later", { retryAfterMs: 1_000 });
  }

  refusal(): HttpResponse {
    return errorResponse(503, this.problem());
  }
}

/** The bytes of a request that was taken. `unadmitted`: its body authenticates the caller. */
export function bufferedBytesOf(limits: BufferLimits, { admitted }: RequestHead, isUnadmitted: boolean): BufferedBytes {
  return new BufferedBytes(limits, isUnadmitted ? undefined : callerIn(admitted));
}

/** The bytes are the caller's own once it is authenticated. Before that they stay as they are. */
export function assignWhenAdmitted(held: BufferedBytes, { admitted }: RequestHead): void {
  if (admitted === undefined) return;
  if (admitted instanceof Promise)
    admitted.then(
      (made) => held.admit(callerIn(made)),
      () => held.release(),
    );
  else held.admit(callerIn(admitted));
}

function callerIn(admitted: Maybe<Awaitable<Admitted>>): string {
  return admitted === undefined || admitted instanceof Promise ? "" : subjectOf(admitted.principal.owner);
}
