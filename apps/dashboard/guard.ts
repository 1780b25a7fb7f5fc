import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type Maybe } from "../../src/index.js";
import type { HttpRequest } from "../../src/public/protocols.js";

/** Who may see the page, and who may act from it. */
export interface GuardOptions {
  /** Who may look. Without it: whoever sits at this machine, and was not forwarded by somebody. */
  mayLook?(request: HttpRequest): boolean | Promise<boolean>;
  /** The word of the start-up line that lets the page act. Without it nobody acts. */
  readonly token: Maybe<string>;
  /** The address people use where a proxy stands in front: its pages count as our own too. */
  readonly publicUrl?: Maybe<string>;
}

/** Throws where somebody may not. */
export interface Guard {
  look(request: HttpRequest): Promise<void>;
  /** The token, and a page of our own that shows it: a foreign page cannot read the token, and cannot forge the origin. */
  act(request: HttpRequest): Promise<void>;
  holdsToken(request: HttpRequest): boolean;
}

export function createGuard({ mayLook = isNear, token, publicUrl }: GuardOptions): Guard {
  const holdsToken = tokenCheck(token);
  const front = publicUrl === undefined ? undefined : new URL(publicUrl).origin;

  async function look(request: HttpRequest): Promise<void> {
    if (!(await mayLook(request))) throw new AgentError("not_found", `nothing answers ${request.method} ${request.path}`);
  }
  return {
    look,
    holdsToken,
    async act(request) {
      await look(request);
      const { origin } = request.headers;
      if (origin === undefined || (origin !== new URL(request.target).origin && origin !== front))
        throw new AgentError("forbidden", "only the page itself may act", { field: "origin" });
      if (token === undefined) throw new AgentError("forbidden", "this page was started without a token: it can only be read");
      if (!holdsToken(request))
        throw new AgentError("unauthenticated", "acting needs the token of the start-up line", { field: "x-koine-token" });
    },
  };
}

const isNear = (request: HttpRequest): boolean => request.connection.loopback;

/** Digests under a key of this process are compared: how long it takes tells nothing about the token, nor about its length. */
function tokenCheck(token: Maybe<string>): (request: HttpRequest) => boolean {
  if (token === undefined || token === "") return () => false;
  const blind = randomBytes(32).toString("hex");
  const digest = (text: string): Buffer => hash("sha256", blind + text, "buffer");
  const wanted = digest(token);
  return ({ headers }) => timingSafeEqual(digest(headers["x-koine-token"] ?? ""), wanted);
}
