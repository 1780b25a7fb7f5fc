import type { NetworkLink } from "../../src/public/network.js";
import type { Callee } from "./child-task.js";
import { type LinkSwitches, sharedSwitches, switchesOf } from "./link-features.js";
import type { PlanIdentities } from "./plan-identities.js";
import type { CredentialReferences, PlanModule } from "./plan-schema.js";
import { LOOPBACK, type Ports } from "./ports.js";
import type { Plan } from "./read-plan.js";

/** A module with its URL. */
export interface AddressedModule {
  readonly module: PlanModule;
  /** Protocol of the decision. */
  readonly protocol: string;
  /** Undefined if its protocol is not registered. */
  readonly pin: string | undefined;
  readonly url: string;
  /** 0 for a module that runs elsewhere. */
  readonly port: number;
}

/** A bridge that callers of one protocol use to reach a module of another. */
export interface PlannedBridge {
  /** Never equal to a module id. */
  readonly id: string;
  /** Interface of its listener. */
  readonly pin: string;
  /** The upstream module. */
  readonly dst: string;
  readonly to: Callee;
  /** Credentials that callers must present: those of the upstream module, so that the bridge does not bypass them. */
  readonly credentials: CredentialReferences | undefined;
  /** The features of the links that it serves. */
  readonly switches: LinkSwitches;
  /** Both protocols of the decisions. */
  readonly protocol: string;
}

/** URLs of the modules, and how they reach each other. */
export interface Wiring {
  readonly modules: readonly AddressedModule[];
  readonly bridges: readonly PlannedBridge[];
  /** The peers of a module, given the URLs of the bridges. */
  peersOf(id: string, bridgeUrls: ReadonlyMap<string, string>): { readonly [id: string]: Callee };
}

/** Assigns a URL to every module; the ports named in the plan must be free. */
export async function wire({ modules, network }: Plan, ports: Ports, { didOf }: PlanIdentities): Promise<Wiring> {
  const addressed = new Map<string, AddressedModule>();
  // Modules with a fixed port first, so that no other gets it by chance.
  for (const module of modules.toSorted((a, b) => Number(b.port !== undefined) - Number(a.port !== undefined))) {
    const node = network.nodes.find(({ id }) => id === module.id);
    const pin = node?.spokenBy === undefined ? undefined : (module.pin ?? node.spokenBy);
    const runsHere = module.url === undefined && pin !== undefined;
    const port = runsHere ? await ports.take(module.id, module.port) : 0;
    const url = module.url ?? (port === 0 ? "" : `http://${LOOPBACK}:${port}`);
    addressed.set(module.id, { module, protocol: node?.protocol ?? "", pin, url, port });
  }
  const routes = network.links.flatMap((link) => routeOf(link, addressed, didOf(link.dst)));
  const bridges = new Map(
    routes.flatMap(({ bridge }) => {
      if (bridge === undefined) return [];
      const sharing = routes.filter((each) => each.bridge?.id === bridge.id);
      return [[bridge.id, { ...bridge, switches: sharedSwitches(sharing.map(({ direct }) => direct.switches)) }]];
    }),
  );
  return {
    modules: modules.flatMap(({ id }) => addressed.get(id) ?? []),
    bridges: [...bridges.values()],
    peersOf: (id, bridgeUrls) =>
      Object.fromEntries(
        routes.filter(({ src }) => src === id).map(({ dst, direct, bridge }) => [dst, calleeBy(direct, bridge, bridgeUrls)]),
      ),
  };
}

interface LinkRoute {
  readonly src: string;
  readonly dst: string;
  readonly direct: Callee;
  readonly bridge: PlannedBridge | undefined;
}

/** Empty if one of the protocols is not registered. */
function routeOf(
  { src, dst, protocol, features }: NetworkLink,
  byId: ReadonlyMap<string, AddressedModule>,
  did: string | undefined,
): readonly LinkRoute[] {
  const [from, to] = [byId.get(src), byId.get(dst)];
  if (from?.pin === undefined || to?.pin === undefined) return [];
  const switches = switchesOf(features, to.module.require);
  const direct: Callee = { url: to.url, did, pin: to.pin, credentials: to.module.credentials, switches };
  const [protocolId = ""] = from.pin.split("@", 1);
  if (protocol[0] === protocol[1]) return [{ src, dst, direct, bridge: undefined }];
  const credentials = listenerCredentials(to.module.credentials);
  const bridge: PlannedBridge = {
    id: `${dst}~${protocolId}`,
    pin: protocolId,
    dst,
    to: direct,
    credentials,
    switches,
    protocol: protocol.join(" → "),
  };
  return [{ src, dst, direct, bridge }];
}

/** A bridge accepts a bearer token, whichever scheme the upstream uses. */
function listenerCredentials(upstream: CredentialReferences | undefined): CredentialReferences | undefined {
  const secret = upstream?.bearer ?? upstream?.apiKey;
  return secret === undefined ? undefined : { bearer: secret };
}

function calleeBy(direct: Callee, bridge: PlannedBridge | undefined, urls: ReadonlyMap<string, string>): Callee {
  if (bridge === undefined) return direct;
  return { url: urls.get(bridge.id) ?? "", pin: bridge.pin, credentials: bridge.credentials, switches: direct.switches };
}
