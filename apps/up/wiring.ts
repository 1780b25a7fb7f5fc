import type { NetworkLink } from "../../src/public/network.js";
import type { Callee } from "./child-task.js";
import type { CredentialPlaces, PlanModule } from "./plan-schema.js";
import { LOOPBACK, type Ports } from "./ports.js";
import type { Plan } from "./read-plan.js";

/** A module with its address. */
export interface PlacedModule {
  readonly module: PlanModule;
  /** As the decision says it. */
  readonly protocol: string;
  /** Undefined where nothing here speaks its protocol. */
  readonly pin: string | undefined;
  readonly url: string;
  /** Zero for one that runs elsewhere. */
  readonly port: number;
}

/** A bridge that links need: who speaks this protocol reaches that module through it. */
export interface WantedBridge {
  /** Cannot be the id of a module. */
  readonly id: string;
  /** What it speaks in front. */
  readonly pin: string;
  /** The module behind it. */
  readonly dst: string;
  readonly to: Callee;
  /** What callers show to it: the secret of the module behind it, so that nobody gets in by the bridge who would not without it. */
  readonly credentials: CredentialPlaces | undefined;
  /** Both sides, as decisions say them. */
  readonly protocol: string;
}

/** Who is where, and who reaches whom how. */
export interface Wiring {
  readonly modules: readonly PlacedModule[];
  readonly bridges: readonly WantedBridge[];
  /** Whom a module calls, given the addresses of the bridges. */
  peersOf(id: string, bridgeUrls: ReadonlyMap<string, string>): { readonly [id: string]: Callee };
}

/** Gives every module an address; the ports a plan names must be free. */
export async function wire({ modules, network }: Plan, ports: Ports): Promise<Wiring> {
  const placed = new Map<string, PlacedModule>();
  // Those that name their port first, so that no other is given it by chance.
  for (const module of modules.toSorted((a, b) => Number(b.port !== undefined) - Number(a.port !== undefined))) {
    const node = network.nodes.find(({ id }) => id === module.id);
    const pin = node?.spokenBy === undefined ? undefined : (module.pin ?? node.spokenBy);
    const runsHere = module.url === undefined && pin !== undefined;
    const port = runsHere ? await ports.take(module.id, module.port) : 0;
    const url = module.url ?? (port === 0 ? "" : `http://${LOOPBACK}:${port}`);
    placed.set(module.id, { module, protocol: node?.protocol ?? "", pin, url, port });
  }
  const routes = network.links.flatMap((link) => routeOf(link, placed));
  const bridges = new Map(routes.flatMap(({ bridge }) => (bridge === undefined ? [] : [[bridge.id, bridge]])));
  return {
    modules: modules.flatMap(({ id }) => placed.get(id) ?? []),
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
  readonly bridge: WantedBridge | undefined;
}

/** None where nothing here speaks one of the protocols. */
function routeOf({ src, dst, protocol }: NetworkLink, byId: ReadonlyMap<string, PlacedModule>): readonly LinkRoute[] {
  const [from, to] = [byId.get(src), byId.get(dst)];
  if (from?.pin === undefined || to?.pin === undefined) return [];
  const direct: Callee = { url: to.url, pin: to.pin, credentials: to.module.credentials };
  const [spoken = ""] = from.pin.split("@", 1);
  if (protocol[0] === protocol[1]) return [{ src, dst, direct, bridge: undefined }];
  const credentials = inFront(to.module.credentials);
  const bridge: WantedBridge = {
    id: `${dst}~${spoken}`,
    pin: spoken,
    dst,
    to: direct,
    credentials,
    protocol: protocol.join(" → "),
  };
  return [{ src, dst, direct, bridge }];
}

/** What is served by us knows its callers by a bearer token, whatever the secret is called behind it. */
function inFront(behind: CredentialPlaces | undefined): CredentialPlaces | undefined {
  const secret = behind?.bearer ?? behind?.apiKey;
  return secret === undefined ? undefined : { bearer: secret };
}

function calleeBy(direct: Callee, bridge: WantedBridge | undefined, urls: ReadonlyMap<string, string>): Callee {
  if (bridge === undefined) return direct;
  return { url: urls.get(bridge.id) ?? "", pin: bridge.pin, credentials: bridge.credentials };
}
