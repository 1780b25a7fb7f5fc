import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Principal } from "../../src/index.js";
import type { Admission } from "../../src/public/auth.js";

/** Header that authenticates the gateway's own page, which sends through the public listener. */
export const OWN_HEADER = "x-koine-own";

const PAGE: Principal = Object.freeze({ id: "page", scheme: "self", scopes: [], owner: "self:page" });

/** Adds the gateway's own page to the configured admission. An open admission is left unchanged. */
export class PageCaller {
  readonly secret = randomBytes(32).toString("base64url");
  readonly #digest = digestOf(this.secret);

  admit(admission: Admission): Admission {
    if (admission.open === true) return admission;
    const admit: Admission = (head, facts) => (this.#isPage(head.headers[OWN_HEADER]) ? PAGE : admission(head, facts));
    // Security schemes and the bind rule stay those of the configured admission.
    const { claims } = admission;
    const claiming =
      claims === undefined
        ? {}
        : { claims: (request: Parameters<Admission>[0]) => this.#isPage(request.headers[OWN_HEADER]) || claims(request) };
    return Object.assign(admit, { ...admission }, claiming);
  }

  #isPage(shown: string | undefined): boolean {
    return shown !== undefined && timingSafeEqual(digestOf(shown), this.#digest);
  }
}

function digestOf(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
