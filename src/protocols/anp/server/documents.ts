import type { Awaitable, Card, JsonObject, Maybe } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { HttpRequest, RequestHead } from "../../../transport/exchange.js";
import type { Contribution, Host } from "../../protocol.js";
import { type Addresses, encodeDescription, encodeInterface } from "../codec/description.js";
import { documentPath, hostOf, isDidWba, stableSubject } from "../identity/did-wba.js";
import { wbaDocument } from "../identity/document.js";
import { sessionUrl } from "../session/profile.js";
import { relayedSession } from "../session/relayed.js";
import { DESCRIPTION, DISCOVERY_PATH, INTERFACE, MESSAGE_SERVICE, RPC } from "../wire.js";
import { agentBase } from "./paths.js";

/** The documents of a server: descriptions, interfaces, the list of its agents, and its DID document. */
export class ServedDocuments {
  readonly #host: Host;
  #signed: Maybe<{ readonly content: string; readonly document: Awaitable<JsonObject> }>;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The address of an agent: the default one has a short one. */
  addresses(publicUrl: string, agent: string): Addresses {
    const isDefault = this.#host.cards()[0]?.name === agent;
    const base = agentBase(publicUrl, isDefault ? undefined : agent);
    const rpc = `${base}/${RPC}`;
    const own = this.#host.identity?.did;
    const relayed = relayedSession(this.#host, agent)?.address;
    // A relay has no session of its own for the agent: its callers insist on the DID of the agent.
    const did = relayed?.did ?? own;
    return {
      description: `${base}/${DESCRIPTION}`,
      interface: `${base}/${INTERFACE}`,
      rpc,
      // Offered only with an identity that outlives the process: a client insists on the DID that it was told.
      session: this.#host.sessions && did !== undefined ? sessionUrl(rpc, did, relayed) : undefined,
      did,
    };
  }

  description(request: RequestHead, card: Card): JsonObject {
    return encodeDescription(card, this.addresses(this.#host.publicUrl(request), card.name));
  }

  interface(request: RequestHead, card: Card): JsonObject {
    return encodeInterface(card, this.addresses(this.#host.publicUrl(request), card.name));
  }

  contributions(): readonly Contribution[] {
    const { identity } = this.#host;
    const isOwn = identity !== undefined && isDidWba(identity.did);
    const own = isOwn ? [this.#didDocument(identity), ...retiredDocuments(identity)] : [];
    return [...own, { path: DISCOVERY_PATH, vary: [], whole: true, members: (request) => this.#agents(request) }];
  }

  /** ANP-08: all agents are on one page. */
  #agents(request: HttpRequest): JsonObject {
    const url = this.#host.publicUrl(request);
    return {
      "@context": {
        "@vocab": "https://schema.org/",
        did: "https://w3id.org/did#",
        ad: "https://agent-network-protocol.com/ad#",
      },
      "@type": "CollectionPage",
      url: url + DISCOVERY_PATH,
      items: this.#host.cards().map(({ name }) => ({
        "@type": "ad:AgentDescription",
        name,
        "@id": this.addresses(url, name).description,
      })),
    };
  }

  #didDocument(identity: Identity): Contribution {
    const members = (request: HttpRequest): Awaitable<JsonObject> => {
      // The host is that of the DID: what is signed does not depend on the header of a request.
      const { protocol } = new URL(this.#host.publicUrl(request));
      const services = this.#services(identity.did, `${protocol}//${hostOf(identity.did)}`);
      return this.#proved(identity, services);
    };
    return { path: documentPath(identity.did), vary: [], whole: true, members };
  }

  #services(did: string, publicUrl: string): readonly JsonObject[] {
    const [first] = this.#host.cards();
    if (first === undefined) return [];
    const { description, rpc } = this.addresses(publicUrl, first.name);
    return [
      { id: `${did}#ad`, type: "AgentDescription", serviceEndpoint: description },
      {
        id: `${did}#message`,
        type: MESSAGE_SERVICE,
        serviceEndpoint: rpc,
        serviceDid: did,
        profiles: ["anp.core.binding.v1", "anp.direct.base.v1"],
        securityProfiles: ["transport-protected"],
      },
    ];
  }

  /** Signed again only if it has changed, so that it keeps its ETag. Keys are read for every request, because they rotate. */
  #proved(identity: Identity, services: readonly JsonObject[]): Awaitable<JsonObject> {
    const content = JSON.stringify([services, identity.keys().map(({ id, expires }) => [id, expires])]);
    if (this.#signed?.content !== content)
      this.#signed = { content, document: wbaDocument(identity, { services }, this.#host.now()) };
    return this.#signed.document;
  }
}

/**
 * The documents of the DIDs that this one replaced: of the same subject, so that they are all below one path. They are read for each
 * request, because a DID may be retired while the server runs.
 */
function retiredDocuments(identity: Identity): readonly Contribution[] {
  const subject = stableSubject(identity.did);
  if (identity.retired === undefined || subject === identity.did) return [];
  const at = (path: string): Maybe<JsonObject> =>
    identity.retired?.().find(({ id }) => typeof id === "string" && stableSubject(id) === subject && documentPath(id) === path);
  const [, below = ""] = /^(.*)\/[^/]+\/did\.json$/.exec(documentPath(identity.did)) ?? [];
  return [
    {
      path: `${below}/*`,
      vary: [],
      whole: true,
      has: (path) => at(path) !== undefined,
      members: ({ path }) => at(path) ?? {},
    },
  ];
}
