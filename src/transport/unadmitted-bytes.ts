import { AgentError } from "../envelope/index.js";
import type { HttpResponse, RequestHead } from "./exchange.js";
import { errorResponse } from "./response.js";

/** In this process, over all servers. */
let total = 0;

/** The bytes of one request whose caller is not authenticated yet, within a limit for the whole process. */
export class UnadmittedBytes {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False above the limit; the bytes are then not counted. */
  add(bytes: number): boolean {
    if (total + bytes > this.#limit) return false;
    total += bytes;
    this.#held += bytes;
    return true;
  }

  /** The caller is authenticated or refused. */
  release(): void {
    total -= this.#held;
    this.#held = 0;
  }

  problem(): AgentError {
    return new AgentError("overloaded", "too many requests wait for authentication; try again later", { retryAfterMs: 1_000 });
  }

  refusal(): HttpResponse {
    return errorResponse(503, this.problem());
  }
}

/** Releases the bytes once the caller is authenticated, at the latest with the response. */
export function releaseWhenAdmitted(
  held: UnadmittedBytes,
  { admitted }: RequestHead,
  answer: HttpResponse | Promise<HttpResponse>,
): void {
  const decided = admitted ?? answer;
  const release = (): void => held.release();
  if (decided instanceof Promise) decided.then(release, release);
  else release();
}
