import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Principal } from "../../src/index.js";
import type { Admission } from "../../src/public/auth.js";

/** The header by which the gateway knows itself: the page sends through the same door as everybody. */
export const OWN_HEADER = "x-koine-own";

const PAGE: Principal = Object.freeze({ id: "page", scheme: "self", scopes: [], owner: "self:page" });

/** The door of the configuration, and the gateway's own page. Where everybody may come in, nothing is added. */
export class OwnCaller {
  readonly secret = randomBytes(32).toString("base64url");
  readonly #digest = digestOf(this.secret);

  admitting(admission: Admission): Admission {
    if (admission.open === true) return admission;
    const admit: Admission = (request) => (this.#is(request.headers[OWN_HEADER]) ? PAGE : admission(request));
    // The card, the bind rule and the words for callers stay those of the door.
    const { claims } = admission;
    const claiming =
      claims === undefined
        ? {}
        : { claims: (request: Parameters<Admission>[0]) => this.#is(request.headers[OWN_HEADER]) || claims(request) };
    return Object.assign(admit, { ...admission }, claiming);
  }

  #is(shown: string | undefined): boolean {
    return shown !== undefined && timingSafeEqual(digestOf(shown), this.#digest);
  }
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
