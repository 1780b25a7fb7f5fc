import { AgentError, type Interface } from "../../src/index.js";
import type { Gateway } from "../gateway/index.js";

/** Where the gateway has an agent for those who speak so: `acp`, `a2a@1.0`, `a2a@1.0/GRPC`. */
export function addressOf(gateway: Pick<Gateway, "interfaces" | "url">, agent: string, pin: string): string {
  const found = gateway.interfaces(agent).find((way) => isWay(way, pin));
  if (found === undefined) throw new AgentError("not_found", `the gateway has no way ${pin} to ${agent}`);
  // gRPC has a host and a port, and no path.
  return /^https?:/.test(found.url) ? found.url : gateway.url;
}

function isWay({ protocol, version, binding }: Interface, pin: string): boolean {
  return [protocol, `${protocol}@${version}`, `${protocol}@${version}/${binding}`].includes(pin);
}
