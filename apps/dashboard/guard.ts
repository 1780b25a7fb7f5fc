import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type Maybe } from "../../src/index.js";
import type { HttpRequest } from "../../src/public/protocols.js";

/** Access control of the page. */
export interface GuardOptions {
  /** Read access. Default: direct connections from loopback. */
  mayLook?(request: HttpRequest): boolean | Promise<boolean>;
  /** The token required for actions. Without it the page is read-only. */
  readonly token: Maybe<string>;
  /** Public URL of a proxy in front: its origin is accepted too. */
  readonly publicUrl?: Maybe<string>;
}

/** Throws if access is denied. */
export interface Guard {
  look(request: HttpRequest): Promise<void>;
  /** Requires the token and our own origin: a foreign page can neither read the token nor forge the origin. */
  act(request: HttpRequest): Promise<void>;
  holdsToken(request: HttpRequest): boolean;
}

export function createGuard({ mayLook = isLoopback, token, publicUrl }: GuardOptions): Guard {
  const holdsToken = tokenCheck(token);
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;

  async function look(request: HttpRequest): Promise<void> {
    if (!(await mayLook(request))) throw new AgentError("not_found", `No route for ${request.method} ${request.path}`);
  }
  return {
    look,
    holdsToken,
    async act(request) {
      await look(request);
      const { origin } = request.headers;
      if (origin === undefined || (origin !== new URL(request.target).origin && origin !== publicOrigin))
        throw new AgentError("forbidden", "Actions are accepted only from the page itself", { field: "origin" });
      if (token === undefined) throw new AgentError("forbidden", "The page is read-only: it was started without a token");
      if (!holdsToken(request))
        throw new AgentError("unauthenticated", "Actions require the token printed at start", { field: "x-koine-token" });
    },
  };
}

const isLoopback = (request: HttpRequest): boolean => request.connection.loopback;

/** Compares keyed digests, so that timing reveals neither the token nor its length. */
function tokenCheck(token: Maybe<string>): (request: HttpRequest) => boolean {
  if (token === undefined || token === "") return () => false;
  const salt = randomBytes(32).toString("hex");
  const digest = (text: string): Buffer => hash("sha256", salt + text, "buffer");
  const expected = digest(token);
  return ({ headers }) => timingSafeEqual(digest(headers["x-koine-token"] ?? ""), expected);
}
