import { AgentError, type Maybe } from "../envelope/index.js";
import type { Exchange, HttpResponse, Link } from "../transport/exchange.js";
import { readRetryAfter } from "../transport/retry-after.js";

/** RFC 9110 §15.6.4. */
const UNAVAILABLE = 503;

/** A link that notices a peer which answers nothing but 503: what it speaks cannot be told now. */
export class AvailabilityWatch {
  readonly link: Link;
  #last: Maybe<HttpResponse>;
  #isAvailable = false;

  constructor(link: Link) {
    const exchange: Exchange = async (request) => {
      const response = await link.exchange(request);
      if (response.status === UNAVAILABLE) this.#last = response;
      else this.#isAvailable = true;
      return response;
    };
    const open = link.open?.bind(link);
    this.link = { exchange, ...(open && { open }), close: () => link.close() };
  }

  /** The error for such a peer. */
  problem(url: string): Maybe<AgentError> {
    if (this.#last === undefined || this.#isAvailable) return undefined;
    const retryAfterMs = readRetryAfter(this.#last.headers);
    const when = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1_000)} s`;
    return new AgentError("unavailable", `${url} is unavailable (503): try again ${when}`, {
      sent: "no",
      status: UNAVAILABLE,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
}
