import type { Call, Card, Maybe } from "../../envelope/index.js";
import { isWider, unknownCard } from "../discovery.js";
import type { DiscoveryContext, Finding, IdSource, Peer, Search } from "../protocol.js";
import { fetchCard } from "./client/fetch-card.js";
import { probe } from "./client/probe.js";
import { grpcOrigin } from "./grpc/address.js";

const VERSIONS = ["1.0", "0.3"] as const;
const BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

/**
 * Detects A2A at an address, with version and binding. The card lists interfaces; a probe verifies them, because cards can be
 * wrong. Without a card the address itself is probed.
 */
export async function discover(
  context: DiscoveryContext,
  url: string,
  call: Call,
  { known, check, unprobed = false }: Search = {},
): Promise<Maybe<Finding>> {
  const found = await fetchCard(context.link, url, call, known?.etag);
  if (found?.kind === "unchanged" && known !== undefined) {
    return {
      ...known,
      evidence: [
        ...known.evidence.filter((line) => !line.endsWith("has not changed")),
        `the card at ${found.url} has not changed`,
      ],
    };
  }
  if (unprobed && found?.kind !== "card") return undefined;
  const prober: DiscoveryContext = { ...context, ...probeIds() };
  await check?.(found?.kind === "card" ? found.card : unknownCard(url, { streaming: true }));
  if (found?.kind === "card") {
    const evidence = [`agent card at ${found.url} (${found.card.name})`];
    const prospect = { url, evidence, etag: found.etag, call };
    const finding = unprobed ? listedIn(found.card, prospect) : await proveCard(prober, found.card, prospect);
    return finding && { ...finding, wider: isWider(url, found.url, finding.peers) };
  }
  const evidence = found?.kind === "refused" ? [`${found.url} responds, but without a card: ${found.because}`] : [];
  return proveBare(prober, url, { evidence, call });
}

interface Prospect {
  readonly url: string;
  readonly evidence: string[];
  readonly etag: string | undefined;
  readonly call: Call;
}

function listedIn(card: Card, { url, evidence, etag }: Prospect): Maybe<Finding> {
  const peers = supportedPeers(card, url);
  return peers.length === 0 ? undefined : { peers, evidence, proved: false, etag };
}

async function proveCard(
  context: DiscoveryContext,
  card: Card,
  { url, evidence, etag, call }: Prospect,
): Promise<Maybe<Finding>> {
  const claimed = supportedPeers(card, url);
  const doubted: Peer[] = [];
  let absent = true;
  for (const [index, peer] of claimed.entries()) {
    const result = await probe({ ...context, peer }, call);
    if (result.speaks === false) {
      evidence.push(`the card names ${label(peer)}, but a probe there failed: ${result.because}`);
      doubted.push(peer);
      absent &&= result.absent;
      continue;
    }
    evidence.push(
      result.speaks === true
        ? `a probe of ${label(peer)} was answered in that version`
        : `${label(peer)} could not be probed: ${result.because}`,
    );
    const peers = [peer, ...claimed.slice(index + 1), ...doubted];
    return { peers, evidence, proved: result.speaks === true, etag };
  }
  const other = await proveUnclaimed(context, card, claimed, { url, evidence, etag, call });
  if (other !== undefined) return other;
  // The agent may be temporarily unavailable; the card is still the best evidence.
  return claimed.length === 0 ? undefined : { peers: claimed, evidence, proved: false, doubted: true, absent, etag };
}

/** The interfaces of the card with the other version: some cards claim 1.0 for servers of 0.3. */
async function proveUnclaimed(
  context: DiscoveryContext,
  card: Card,
  claimed: readonly Peer[],
  { evidence, etag, call }: Prospect,
): Promise<Maybe<Finding>> {
  for (const { url, binding, tenant } of claimed) {
    for (const version of VERSIONS) {
      if (claimed.some((peer) => peer.url === url && peer.binding === binding && peer.version === version)) continue;
      const peer: Peer = { url, binding, version, tenant, card };
      const result = await probe({ ...context, peer }, call);
      if (result.speaks !== true) continue;
      evidence.push(`the card does not list it, but a probe of ${label(peer)} succeeded`);
      return { peers: [peer], evidence, proved: true, etag };
    }
  }
  return undefined;
}

async function proveBare(
  context: DiscoveryContext,
  url: string,
  { evidence, call }: Omit<Prospect, "url" | "etag">,
): Promise<Maybe<Finding>> {
  const card = unknownCard(url, { streaming: true });
  for (const version of VERSIONS) {
    for (const binding of BINDINGS) {
      const peer: Peer = { url, card, version, binding, tenant: undefined };
      const result = await probe({ ...context, peer }, call);
      if (result.speaks !== true) continue;
      return {
        peers: [peer],
        evidence: [...evidence, `no card, but a probe of ${label(peer)} was answered in that version`],
        proved: true,
        etag: undefined,
      };
    }
  }
  return undefined;
}

/** The supported interfaces of the card, in its order of preference; gRPC last, because it is the most expensive. */
function supportedPeers(card: Card, base: string): readonly Peer[] {
  const known = card.interfaces.filter(
    ({ protocol, version }) => protocol === "a2a" && VERSIONS.some((each) => each === version),
  );
  const json = known.flatMap(({ url, version, binding, tenant }): readonly Peer[] => {
    if (!BINDINGS.some((each) => each === binding)) return [];
    return [{ url: new URL(url, base).href.replace(/\/$/, ""), card, version, binding, tenant }];
  });
  const grpc = known.flatMap(({ url, version, binding, tenant }): readonly Peer[] => {
    const origin = binding === "GRPC" ? grpcOrigin(url, base) : undefined;
    return origin === undefined ? [] : [{ url: origin, card, version, binding, tenant }];
  });
  return [...json, ...grpc];
}

function label({ version, binding, url }: Peer): string {
  return `${binding} ${version} at ${url}`;
}

/** Probes need unique ids, and no clock. */
function probeIds(): IdSource {
  return { now: () => 0, newId: () => crypto.randomUUID() };
}
