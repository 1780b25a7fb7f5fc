import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import { parseDid } from "../../security/identity/index.js";
import type { SettingInfo } from "../protocol.js";
import { parseDidAll } from "./legacy-session/did-all.js";

/** How a client proves its DID: by a signature over each request, a `DIDWba` header of either version, or a token after the first. */
export const AUTHENTICATIONS = ["signature", "header", "header-1.0", "token"] as const;
export type Authentication = (typeof AUTHENTICATIONS)[number];

export interface AnpSettings {
  readonly authentication: Authentication;
  /** Documents of did:wba at loopback addresses are fetched by http. */
  readonly loopbackHttp: boolean;
  /** The method of a peer's interface that gets messages, if it has none of Koine's. */
  readonly method: Maybe<string>;
  /** The DID that a called agent must prove. */
  readonly peer: Maybe<string>;
  /** A relay passes sealed sessions on to the agent instead of opening them. */
  readonly relaySessions: boolean;
  /** Sessions of agent-connect 0.3 are opened and accepted. */
  readonly legacySession: boolean;
}

/** The settings, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "authentication",
    kind: "text",
    example: "token",
    about: `how calls prove the DID: ${AUTHENTICATIONS.join(", ")}; signature by default`,
  },
  {
    name: "loopbackHttp",
    kind: "boolean",
    example: "true",
    about: "fetch DID documents of localhost and loopback addresses by http, for tests; false by default",
  },
  {
    name: "method",
    kind: "text",
    example: "translate",
    about: "the method that gets messages, of peers with methods of their own; by default the one that takes a text",
  },
  {
    name: "peer",
    kind: "text",
    example: "did:wba:agents.example:user:alice",
    about: "the DID that the called agent must prove; by default the one that is called, or that its description names",
    namesPeer: true,
  },
  {
    name: "relaySessions",
    kind: "boolean",
    example: "false",
    about: "a gateway in relay mode passes sealed sessions on to the agent unopened; true by default",
  },
  {
    name: "legacySession",
    kind: "boolean",
    example: "true",
    about: "open and accept the encrypted session of agent-connect 0.3, which protects less; false by default",
  },
];

/** The settings of the user, validated. */
export function readSettings(given: Maybe<JsonObject>): AnpSettings {
  const {
    authentication = "signature",
    loopbackHttp = false,
    legacySession = false,
    method,
    peer,
    relaySessions = true,
  } = given ?? {};
  const known = AUTHENTICATIONS.find((each) => each === authentication);
  if (known === undefined) throw invalid("authentication", `must be one of ${AUTHENTICATIONS.join(", ")}`);
  if (typeof loopbackHttp !== "boolean") throw invalid("loopbackHttp", "must be true or false");
  if (typeof relaySessions !== "boolean") throw invalid("relaySessions", "must be true or false");
  if (method !== undefined && (typeof method !== "string" || method === ""))
    throw invalid("method", "must be the name of a method");
  if (typeof legacySession !== "boolean") throw invalid("legacySession", "must be true or false");
  if (peer !== undefined && (typeof peer !== "string" || !isDid(peer))) throw invalid("peer", "must be a DID");
  return { authentication: known, loopbackHttp, method, peer, relaySessions, legacySession };
}

/** A did:all has a character that no other DID has. */
function isDid(text: string): boolean {
  return parseDid(text) !== undefined || parseDidAll(text) !== undefined;
}

function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `anp.${field} ${problem}`, { field, sent: "no" });
}
