import type { Layer, Principal } from "../envelope/index.js";

/**
 * Sets the source of every message to its authenticated caller: `src` is written by the caller, and an agent must not mistake it for who
 * called. What the caller claimed is in `meta.claimedSrc`. Callers that are gateways speak for others; anonymous callers can only claim.
 */
export function verifiedSource(gateways: readonly string[]): Layer {
  const speaksForOthers = ({ id, scheme }: Principal): boolean =>
    scheme === "anonymous" || scheme === "self" || gateways.includes(id);
  return (next) => (operation, call) => {
    const { caller } = call;
    if (operation.kind !== "send" || operation.envelope.src === caller.id || speaksForOthers(caller))
      return next(operation, call);
    const { envelope } = operation;
    const meta = { ...envelope.meta, claimedSrc: envelope.src };
    return next({ ...operation, envelope: { ...envelope, src: caller.id, meta } }, call);
  };
}
