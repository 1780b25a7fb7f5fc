import { withoutBinding } from "../../src/internal.js";
import { type Protocol, protocols as registered, selectInterfaces } from "../../src/public/protocols.js";

/** The protocols to serve, restricted to the configured interfaces. `grpc` false: none over gRPC. */
export function listenerInterfaces(as: readonly string[] | undefined, grpc = true): readonly Protocol[] {
  const selected = as === undefined ? registered : selectInterfaces(as, registered);
  return grpc ? selected : withoutBinding("GRPC", selected);
}
