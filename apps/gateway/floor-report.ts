import {
  ARRIVED_OVER_TLS,
  type FloorFields,
  FloorRules,
  floorOf,
  NO_FLOOR,
  protocolsFor,
  raiseFloor,
} from "../../src/internal.js";
import { protocols } from "../../src/public/protocols.js";
import { type PlannedCalls, providedSecurity } from "../config/index.js";
import type { GatewayConfig, UpstreamConfig } from "./config.js";
import { isDid } from "./config-values.js";

/** An upstream that gets less security than calls must have, or whose calls are refused. */
export interface FloorLink extends FloorFields {
  readonly agent: string;
  readonly upstream: string;
  readonly url: string;
  /** It concerns callers with a verified DID only. */
  readonly ofDids: boolean;
}

/** What a verified DID requires of every further hop, beside what its connection requires. */
const BY_DID = floorOf(["identity", "signed"]);

/** Every upstream that lowers the floor of calls, or will be refused. Resolves names of upstreams without TLS. */
export async function floorLinks({ agents, document }: GatewayConfig, now: () => number): Promise<readonly FloorLink[]> {
  const { tls, publicUrl } = document.listen ?? {};
  const admitsDids = document.auth?.dids !== undefined;
  const arrival = tls !== undefined || publicUrl?.startsWith("https:") === true ? ARRIVED_OVER_TLS : NO_FLOOR;
  const links = agents.flatMap(({ name, upstreams }) =>
    upstreams.map(async (upstream): Promise<readonly FloorLink[]> => {
      const { id, url, floor, pin } = upstream;
      const rules = new FloorRules(url, floor, { now });
      if (arrival === NO_FLOOR && rules.required === NO_FLOOR && !admitsDids) return [];
      await rules.learn();
      const destination = {
        protocol: pin ?? "every known protocol",
        url,
        provided: floorOf(providedSecurity(callsTo(upstream))),
      };
      const ofAll = rules.verdicts(arrival, destination);
      const known = new Set(ofAll.map(({ requirement }) => requirement));
      const ofDids = admitsDids ? rules.verdicts(raiseFloor(arrival, BY_DID), destination) : [];
      return [
        ...ofAll.map((each) => ({ ...each, ofDids: false })),
        ...ofDids.filter(({ requirement }) => !known.has(requirement)).map((each) => ({ ...each, ofDids: true })),
      ].map((each) => ({ agent: name, upstream: id, url, ...each }));
    }),
  );
  return (await Promise.all(links)).flat();
}

/** The operator names who an upstream must prove to be by its address, or by a setting of the protocol. */
function callsTo({ url, pin, identity, settings }: UpstreamConfig): PlannedCalls {
  return {
    url,
    pin,
    by: protocolsFor(isDid(url) ? url : undefined, protocols, settings),
    signs: identity !== undefined,
    namesPeer({ id, settings: known = [] }) {
      const given = settings[id] ?? {};
      return isDid(url) || known.some((each) => each.namesPeer === true && given[each.name] !== undefined);
    },
  };
}

/** One line for the operator. */
export function floorLine({ agent, upstream, url, outcome, requirement, because, ofDids }: FloorLink): string {
  const name = agent === upstream ? agent : `${agent}/${upstream}`;
  const calls = ofDids ? "calls of DIDs" : "calls";
  return outcome === "lowered"
    ? `${name} at ${url} gets ${calls} without ${requirement === "encrypted" ? "encryption" : requirement}: ${because}`
    : `${calls} to ${name} at ${url} are refused: ${because}`;
}

/** Openings that have ended: their upstreams are held to the floor again. */
export function endedOpenings({ document: { openings = [] } }: GatewayConfig, now: number): readonly string[] {
  return openings
    .filter(({ until }) => Date.parse(until) + (until.includes("T") ? 0 : DAY_MS) <= now)
    .map(({ upstream, until }) => `the opening for ${upstream} ended on ${until}: remove it`);
}
const DAY_MS = 86_400_000;
