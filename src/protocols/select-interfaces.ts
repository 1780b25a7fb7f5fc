import { AgentError, type Maybe, type Via } from "../envelope/index.js";
import type { Host, Protocol } from "./protocol.js";

/** A parsed interface name, such as `a2a@0.3/JSONRPC`. */
interface Selector {
  readonly protocol: Protocol;
  readonly version: Maybe<string>;
  readonly binding: Maybe<string>;
}

/**
 * Restricts protocols to the named interfaces, such as `acp`, `a2a@1.0` or `a2a@0.3/JSONRPC`. Cards advertise only these, and
 * calls to others are rejected. Throws AgentError for an unknown name, with the list of known ones.
 */
export function selectInterfaces(names: readonly string[], known: readonly Protocol[]): readonly Protocol[] {
  const selectors = names.map((name) => parseSelector(name, known));
  return known.flatMap((protocol) => {
    const own = selectors.filter((selector) => selector.protocol === protocol);
    if (own.length === 0) return [];
    return own.some(({ version }) => version === undefined) ? [protocol] : [narrowed(protocol, own)];
  });
}

/** The protocols without their interfaces over one binding, such as `GRPC`: cards do not list them, and calls are rejected. */
export function withoutBinding(binding: string, known: readonly Protocol[]): readonly Protocol[] {
  return known.map((protocol) => ({
    ...protocol,
    serve(host) {
      const served = protocol.serve(
        restricted(host, (via) => via.binding !== binding, `${protocol.id} over ${binding} is not served at this address`),
      );
      return { ...served, interfaces: (agent, url) => served.interfaces(agent, url).filter((each) => each.binding !== binding) };
    },
  }));
}

/** A host whose cards list only some interfaces, and that rejects calls to others. */
function restricted(host: Host, isOne: (via: Via) => boolean, otherwise: string): Host {
  return {
    ...host,
    offers: (via) => isOne(via) && (host.offers?.(via) ?? true),
    begin(request, start) {
      if (isOne(start.via)) return host.begin(request, start);
      throw new AgentError("unsupported_version", otherwise);
    },
  };
}

function parseSelector(name: string, known: readonly Protocol[]): Selector {
  const [target = "", binding] = name.split("/", 2);
  const [id, version] = target.split("@", 2);
  const protocol = known.find((each) => each.id === id);
  if (protocol !== undefined && (version === undefined ? binding === undefined : protocol.versions.includes(version)))
    return { protocol, version, binding };
  const all = known.flatMap((each) => [each.id, ...each.versions.map((one) => `${each.id}@${one}`)]);
  throw new AgentError("unsupported", `unknown interface ${JSON.stringify(name)}; use one of ${all.join(", ")}`, {
    field: "as",
  });
}

function narrowed(protocol: Protocol, selectors: readonly Selector[]): Protocol {
  const isOne = (via: Pick<Via, "version" | "binding">): boolean =>
    selectors.some(({ version, binding }) => via.version === version && (binding === undefined || via.binding === binding));
  const names = selectors
    .map(({ version, binding }) => `${version}${binding === undefined ? "" : ` over ${binding}`}`)
    .join(" and ");
  return {
    ...protocol,
    versions: protocol.versions.filter((one) => selectors.some(({ version }) => version === one)),
    serve(host) {
      const served = protocol.serve(restricted(host, isOne, `only ${protocol.id} ${names} is served at this address`));
      return { ...served, interfaces: (agent, url) => served.interfaces(agent, url).filter(isOne) };
    },
  };
}
