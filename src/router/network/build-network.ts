import { AgentError, type Maybe } from "../../envelope/index.js";
import { protocols as registered } from "../../protocols/all.js";
import { featureRows } from "../../protocols/candidates.js";
import type { Protocol } from "../../protocols/protocol.js";
import { checkDowngrade, securityLosses, withAcceptedLoss } from "./downgrade.js";
import { decideNativeFeatures, linkFeature } from "./native-features.js";
import type { Network, NetworkBridge, NetworkLink, NetworkNode } from "./network.js";
import {
  type AllowedDowngrade,
  type DecidedModule,
  type Decisions,
  decidedModules,
  NETWORK_LIMITS,
  type NetworkModule,
  type NetworkSettings,
} from "./plan-input.js";

/**
 * Builds a network from decisions: one node per module, one link per neighbour, a stateless bridge where the protocols of a link
 * differ. Pure. Throws AgentError for inconsistent input, and for a link that would lower security.
 */
export function buildNetwork(
  decisions: Decisions,
  modules: readonly NetworkModule[],
  { protocols = registered, allowDowngrade = [] }: NetworkSettings = {},
): Network {
  const decided = decidedModules(decisions, modules, featureRows(protocols));
  const ends = new Map(
    decided.map((module): [string, End] => {
      const protocol = protocols.find(({ id }) => id === module.row.id);
      const features = decideNativeFeatures(module, protocol);
      return [
        module.id,
        { module, protocol, node: { id: module.id, protocol: module.row.name, spokenBy: protocol?.id, features } },
      ];
    }),
  );
  const joined = decided.flatMap(({ id, calls }) => calls.map((other) => [endOf(ends, id), endOf(ends, other)] as const));
  if (joined.length > NETWORK_LIMITS.links)
    throw new AgentError("too_large", `there are ${joined.length} links, and a network may have ${NETWORK_LIMITS.links}`, {
      field: "modules",
    });
  checkAllowed(allowDowngrade, joined);
  return {
    nodes: Array.from(ends.values(), ({ node }) => node),
    links: joined.map(([src, dst]) => linkOf(src, dst, allowedFor(allowDowngrade, src, dst))),
    bridges: joined.flatMap(([src, dst]) => (isBridged(src, dst) ? [bridgeOf(src, dst)] : [])),
  };
}

interface End {
  readonly module: DecidedModule;
  readonly protocol: Maybe<Protocol>;
  readonly node: NetworkNode;
}

/** Neighbours were validated before. */
function endOf(ends: ReadonlyMap<string, End>, id: string): End {
  const end = ends.get(id);
  if (end === undefined) throw new AgentError("internal", `${id} is no module`);
  return end;
}

function isBridged(src: End, dst: End): boolean {
  return src.module.row.id !== dst.module.row.id;
}

function linkOf(src: End, dst: End, allowed: Maybe<AllowedDowngrade>): NetworkLink {
  const losses = securityLosses(src.module, dst.module);
  checkDowngrade(src.node.id, dst.node.id, losses, allowed);
  // A need of one end applies to both.
  const [from, to] = [src, dst].map(({ module, protocol }) => decideNativeFeatures(module, protocol, [src.module, dst.module]));
  const features = (from ?? []).flatMap((feature, index) => {
    const other = to?.[index];
    return other === undefined ? [] : [withAcceptedLoss(linkFeature(feature, other, isBridged(src, dst)), losses, allowed)];
  });
  return { src: src.node.id, dst: dst.node.id, protocol: [src.node.protocol, dst.node.protocol], features };
}

/** The names of the two stateless steps in the seed specification. */
function bridgeOf({ node: src }: End, { node: dst }: End): NetworkBridge {
  return {
    src: src.id,
    dst: dst.id,
    encode: `encode_to_${dst.protocol.toLowerCase()}`,
    decode: `decode_from_${src.protocol.toLowerCase()}`,
    stateless: true,
  };
}

function allowedFor(allowed: readonly AllowedDowngrade[], { node: src }: End, { node: dst }: End): Maybe<AllowedDowngrade> {
  return allowed.find((each) => each.src === src.id && each.dst === dst.id);
}

/** An allowed downgrade must name an existing link: a typo must not pass silently. */
function checkAllowed(allowed: readonly AllowedDowngrade[], joined: readonly (readonly [End, End])[]): void {
  for (const [index, { src, dst }] of allowed.entries())
    if (!joined.some(([from, to]) => from.node.id === src && to.node.id === dst))
      throw new AgentError("not_found", `a downgrade is allowed from ${src} to ${dst}, and there is no such link`, {
        field: `allowDowngrade[${index}]`,
      });
}
