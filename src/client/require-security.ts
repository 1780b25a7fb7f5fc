import { AgentError, type Floor, type Handler, NO_FLOOR } from "../envelope/index.js";
import type { Peer, Protocol } from "../protocols/protocol.js";

/** The handler as before, except that a call which demands more protection than this way gives is refused before anything is written. */
export function requireSecurity(
  handler: Handler,
  { id, traits }: Pick<Protocol, "id" | "traits">,
  { url }: Pick<Peer, "url">,
): Handler {
  const isTls = url.startsWith("https:");
  const given: Floor = {
    encrypted: isTls || traits.sealed !== "none",
    signed: traits.signed !== "none",
    endToEnd: traits.signed === "end-to-end" && traits.sealed === "end-to-end",
    // Who answers is known by its certificate, or by what it signs.
    identity: isTls || traits.signed !== "none",
  };
  return (operation, call) => {
    const { floor } = call;
    // By far the most calls demand nothing.
    const lacking = floor === NO_FLOOR ? undefined : DEMANDS.find((demand) => floor[demand] && !given[demand]);
    if (lacking === undefined) return handler(operation, call);
    const why = `the call must be ${WORDS[lacking]}, which ${id} at this address is not`;
    return Promise.reject(new AgentError("downgrade_refused", why, { sent: "no" }));
  };
}

const DEMANDS = ["encrypted", "signed", "endToEnd", "identity"] as const satisfies readonly (keyof Floor)[];
const WORDS: Readonly<Record<keyof Floor, string>> = {
  encrypted: "encrypted",
  signed: "signed",
  endToEnd: "protected from end to end",
  identity: "with a peer that proves who it is",
};
