import { AgentError, type Floor, type Handler, NO_FLOOR, protectionOf } from "../envelope/index.js";
import type { Peer, Protocol } from "../protocols/protocol.js";

/** Rejects calls that require more protection than this interface provides, before anything is sent. */
export function requireSecurity(
  handler: Handler,
  { id, traits }: Pick<Protocol, "id" | "traits">,
  { url }: Pick<Peer, "url">,
): Handler {
  const isTls = url.startsWith("https:") || url.startsWith("wss:");
  const provided: Floor = {
    encrypted: isTls || traits.sealed !== "none",
    signed: traits.signed !== "none",
    endToEnd: traits.signed === "end-to-end" && traits.sealed === "end-to-end",
    // The peer is identified by its certificate, or by its signatures.
    identity: isTls || traits.signed !== "none",
  };
  return (operation, call) => {
    const { floor } = call;
    // Most calls require nothing.
    if (floor === NO_FLOOR) return handler(operation, call);
    // A message that is sealed or signed by its author needs less of its connection.
    const brought = operation.kind === "send" ? protectionOf(operation.envelope, traits) : NO_FLOOR;
    const missing = REQUIREMENTS.find((name) => floor[name] && !provided[name] && !brought[name]);
    if (missing === undefined) return handler(operation, call);
    const why = `the call must be ${LABELS[missing]}, which ${id} at this address does not provide`;
    return Promise.reject(new AgentError("downgrade_refused", why, { sent: "no" }));
  };
}

const REQUIREMENTS = ["encrypted", "signed", "endToEnd", "identity"] as const satisfies readonly (keyof Floor)[];
const LABELS: Readonly<Record<keyof Floor, string>> = {
  encrypted: "encrypted",
  signed: "signed",
  endToEnd: "protected from end to end",
  identity: "with a peer that proves who it is",
};
