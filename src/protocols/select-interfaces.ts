import { AgentError, type Maybe, type Via } from "../envelope/index.js";
import type { Host, Protocol } from "./protocol.js";

/** `a2a@0.3/JSONRPC` in its parts. */
interface Way {
  readonly protocol: Protocol;
  readonly version: Maybe<string>;
  readonly binding: Maybe<string>;
}

/**
 * Only these ways of speaking, out of those that are known: `acp`, `a2a@1.0`, `a2a@0.3/JSONRPC`. Cards name no other, and a
 * call by another is refused in its own form. A name that nobody answers to is an error that lists those who do.
 */
export function selectInterfaces(names: readonly string[], known: readonly Protocol[]): readonly Protocol[] {
  const ways = names.map((name) => wayOf(name, known));
  return known.flatMap((protocol) => {
    const own = ways.filter((way) => way.protocol === protocol);
    if (own.length === 0) return [];
    return own.some(({ version }) => version === undefined) ? [protocol] : [narrowed(protocol, own)];
  });
}

function wayOf(name: string, known: readonly Protocol[]): Way {
  const [way = "", binding] = name.split("/", 2);
  const [id, version] = way.split("@", 2);
  const protocol = known.find((each) => each.id === id);
  if (protocol !== undefined && (version === undefined ? binding === undefined : protocol.versions.includes(version)))
    return { protocol, version, binding };
  const all = known.flatMap((each) => [each.id, ...each.versions.map((one) => `${each.id}@${one}`)]);
  throw new AgentError("unsupported", `nothing here speaks ${JSON.stringify(name)}; there are ${all.join(", ")}`, {
    field: "as",
  });
}

function narrowed(protocol: Protocol, ways: readonly Way[]): Protocol {
  const isOne = (via: Pick<Via, "version" | "binding">): boolean =>
    ways.some(({ version, binding }) => via.version === version && (binding === undefined || via.binding === binding));
  const words = ways.map(({ version, binding }) => `${version}${binding === undefined ? "" : ` by ${binding}`}`).join(" and ");
  return {
    ...protocol,
    versions: protocol.versions.filter((one) => ways.some(({ version }) => version === one)),
    serve(host) {
      const narrow: Host = {
        ...host,
        offers: isOne,
        begin(request, start) {
          if (isOne(start.via)) return host.begin(request, start);
          throw new AgentError("unsupported_version", `only ${protocol.id} ${words} is spoken at this address`);
        },
      };
      const served = protocol.serve(narrow);
      return { ...served, interfaces: (agent, url) => served.interfaces(agent, url).filter(isOne) };
    },
  };
}
