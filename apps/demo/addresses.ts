import { AgentError, type Interface } from "../../src/index.js";
import type { Gateway } from "../gateway/index.js";

/** The gateway's URL of an agent for one interface: `acp`, `a2a@1.0`, `a2a@1.0/GRPC`. */
export function addressOf(gateway: Pick<Gateway, "interfaces" | "url">, agent: string, pin: string): string {
  const found = gateway.interfaces(agent).find((candidate) => matchesInterface(candidate, pin));
  if (found === undefined) throw new AgentError("not_found", `The gateway does not serve ${agent} over ${pin}`);
  // gRPC addresses have no path.
  return /^https?:/.test(found.url) ? found.url : gateway.url;
}

function matchesInterface({ protocol, version, binding }: Interface, pin: string): boolean {
  return [protocol, `${protocol}@${version}`, `${protocol}@${version}/${binding}`].includes(pin);
}
