import { AgentError, type Maybe } from "../../src/index.js";
import { holdsToken } from "../../src/internal.js";
import type { HttpRequest } from "../../src/public/protocols.js";

/** Access control of the page's actions. The admin listener has authenticated every reader. */
export interface GuardOptions {
  /** The operator's token, which actions require of readers that were admitted otherwise too. */
  readonly token: string;
  /** Public URL of a proxy in front: its origin is accepted too. */
  readonly publicUrl?: Maybe<string>;
}

/** Throws if access is denied. */
export interface Guard {
  /** Requires the token and our own origin: a foreign page can neither read the token nor forge the origin. */
  act(request: HttpRequest): void;
  holdsToken(request: HttpRequest): boolean;
}

export function createGuard({ token, publicUrl }: GuardOptions): Guard {
  const holds = holdsToken(token);
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return {
    holdsToken: holds,
    act(request) {
      const { origin } = request.headers;
      if (origin === undefined || (origin !== new URL(request.target).origin && origin !== publicOrigin))
        throw new AgentError("forbidden", "Actions are accepted only from the page itself", { field: "origin" });
      if (!holds(request))
        throw new AgentError("unauthenticated", "Actions require the token printed at start", { field: "x-koine-token" });
    },
  };
}
