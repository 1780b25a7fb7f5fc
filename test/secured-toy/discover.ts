import { AgentError, type Call, isObject, type Maybe } from "../../src/envelope/index.js";
import type { DiscoveryContext, Finding } from "../../src/protocols/index.js";
import type { Search } from "../../src/protocols/protocol.js";
import { responseJson } from "../../src/transport/body.js";
import { httpAddress, makeRequest } from "../../src/transport/request.js";
import { decodeCard } from "../session-toy/codec.js";
import { PATH, VIA } from "./wire.js";

/** The address of an agent: where its host has sessions, its name, and the DID that the host must prove. */
export function agentUrl(publicUrl: string, agent: string, did: string): string {
  return `${publicUrl.replace(/^http/, "ws")}${PATH}?agent=${encodeURIComponent(agent)}&did=${encodeURIComponent(did)}`;
}

/** The DID in the address of an agent. */
export function didIn(url: string): string {
  return new URL(httpAddress(url)).searchParams.get("did") ?? "";
}

/** The document of the host. An address with a DID finds only a host with that DID. */
export async function discover(
  { link, limits }: DiscoveryContext,
  url: string,
  call: Call,
  { check }: Search = {},
): Promise<Maybe<Finding>> {
  const { origin, pathname, searchParams } = new URL(httpAddress(url));
  const base = `${origin}${pathname.replace(/\/$/, "")}`;
  const address = base.endsWith(PATH) ? base : `${base}${PATH}`;
  const response = await link.exchange(makeRequest({ method: "GET", url: address, call }));
  if (response.status !== 200) return undefined;
  const document = await (async () => responseJson(response, limits))().catch(() => undefined);
  if (!isObject(document) || document["secured-toy"] !== 1 || !Array.isArray(document["agents"])) return undefined;
  const { did, agents } = document;
  const [wanted, expected] = [searchParams.get("agent"), searchParams.get("did")];
  if (typeof did !== "string" || typeof document["url"] !== "string") return undefined;
  if (expected !== null && expected !== did)
    throw new AgentError("bad_peer", `the host at ${origin} is ${did.slice(0, 200)}, not ${expected}`, { sent: "no" });
  const listed = (agents as readonly unknown[]).filter(isObject).find(({ name }) => wanted === null || name === wanted);
  if (listed === undefined) return undefined;
  const named = decodeCard(listed, "agent");
  const session = agentUrl(document["url"], named.name, did);
  const card = { ...named, interfaces: [{ ...VIA, url: session }] };
  await check?.(card);
  return {
    peers: [{ url: session, card, version: VIA.version, binding: VIA.binding }],
    evidence: [`a secured toy document at ${address}`],
    proved: true,
  };
}
