import { type Card, isObject, type Json, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject, readString, readText } from "../../../transport/fields.js";
import { OWN_CARD_KEY, readOwnCard, writeOwnCard } from "../../own-card.js";
import { ASK, MESSAGING, METHODS } from "../wire.js";
import { decodeCard, encodeSkill } from "./card.js";

/** An interface that a description names (ANP-07 §6). */
export interface DescribedInterface {
  readonly type: string;
  readonly protocol: string;
  readonly url: Maybe<string>;
  /** The document of the interface, if it is inside the description. */
  readonly content: Maybe<JsonObject>;
}

/** An agent description as far as it is used. */
export interface Description {
  readonly card: Card;
  readonly did: Maybe<string>;
  readonly interfaces: readonly DescribedInterface[];
}

/** Interfaces of one description that are read. */
const MAX_INTERFACES = 64;
/** The protocol of Koine's session in a description. */
export const SESSION_PROTOCOL = "koine-session";

/** Where an agent is. */
export interface Addresses {
  readonly description: string;
  readonly interface: string;
  readonly rpc: string;
  /** Undefined: there are no sessions. */
  readonly session: Maybe<string>;
  readonly did: Maybe<string>;
}

/** The agent description in the form of ANP-07 (plain JSON). */
export function encodeDescription(card: Card, at: Addresses): JsonObject {
  const { name, description, provider, skills, inputModes, outputModes } = card;
  const structured = { type: "StructuredInterface", version: card.version };
  return {
    protocolType: "ANP",
    protocolVersion: "1.0.0",
    type: "AgentDescription",
    url: at.description,
    name,
    ...(at.did === undefined ? undefined : { did: at.did }),
    description: description === "" ? name : description,
    ...(provider === undefined ? undefined : { owner: { type: "Organization", name: provider.organization, url: provider.url } }),
    securityDefinitions: { didwba_sc: { scheme: "didwba", in: "header", name: "Authorization" } },
    security: "didwba_sc",
    interfaces: [
      ...(at.session === undefined
        ? []
        : [
            {
              ...structured,
              protocol: SESSION_PROTOCOL,
              url: at.session,
              description: "The same methods in an encrypted session",
            },
          ]),
      { ...structured, protocol: "openrpc", url: at.interface, description: `The methods of ${name}, by JSON-RPC 2.0` },
      {
        type: "MetaProtocolInterface",
        profile: "anp.meta.negotiation.v1",
        protocol: "openrpc",
        binding: "jsonrpc-2.0",
        url: at.rpc,
        methods: [MESSAGING.capabilities, MESSAGING.negotiate],
        negotiates: ["profiles", "interfaces", "security_profiles", "content_types", "execution_modes"],
        description: "Which interface, profile and content type to use",
      },
    ],
    skills: skills.map(encodeSkill),
    inputModes,
    outputModes,
    [OWN_CARD_KEY]: writeOwnCard(card),
  };
}

/** Reads the forms of ANP-07, of FastANP and of OpenANP, which has the DID in `identifier`. Throws DecodeProblem. */
export function decodeDescription(value: unknown): Description {
  const wire = readObject(value, "");
  if (wire["protocolType"] !== "ANP" && wire["type"] !== "AgentDescription" && wire["@type"] !== "ad:AgentDescription")
    throw new DecodeProblem("protocolType", "is not ANP");
  const listed = wire["interfaces"] ?? wire["ad:interfaces"] ?? [];
  if (Array.isArray(listed) && listed.length > MAX_INTERFACES)
    throw new DecodeProblem("interfaces", `has more than ${MAX_INTERFACES} entries`);
  const owner = isObject(wire["owner"]) && typeof wire["owner"]["name"] === "string" ? wire["owner"] : undefined;
  const plain = decodeCard(
    {
      name: wire["name"],
      description: wire["description"],
      skills: wire["skills"],
      inputModes: wire["inputModes"],
      outputModes: wire["outputModes"],
    },
    "",
  );
  const card: Card = {
    ...plain,
    // Peers without Koine's members have neither streams nor tasks.
    capabilities: { ...plain.capabilities, streaming: false },
    provider: owner && { organization: String(owner["name"]), url: typeof owner["url"] === "string" ? owner["url"] : "" },
  };
  return {
    card: readOwnCard(card, wire[OWN_CARD_KEY], OWN_CARD_KEY),
    did: didIn(wire["did"]) ?? didIn(wire["identifier"]) ?? didIn(wire["sku"]),
    interfaces: readArray(listed, "interfaces", readInterface),
  };
}

function didIn(value: Maybe<Json>): Maybe<string> {
  return typeof value === "string" && value.startsWith("did:") ? value : undefined;
}

function readInterface(value: unknown, path: string): DescribedInterface {
  const wire = readObject(value, path);
  return {
    type: readString(wire["type"] ?? wire["@type"], `${path}.type`).replace(/^ad:/, ""),
    protocol: (optional(wire["protocol"], `${path}.protocol`, readString) ?? "").toLowerCase(),
    url: optional(wire["url"], `${path}.url`, readString),
    content: optional(wire["content"], `${path}.content`, readObject),
  };
}

const NO_SCHEMA: JsonObject = { type: "object" };
const TEXT: JsonObject = { type: "string" };

interface MethodInfo {
  readonly about: string;
  readonly params: readonly { readonly name: string; readonly required?: boolean; readonly schema: JsonObject }[];
}

const TASK_ID = { name: "taskId", required: true, schema: TEXT } as const;
/** Every method has a description: the SDK ignores an interface with one that has none. */
const INFO: { readonly [method: string]: MethodInfo } = {
  [ASK]: { about: "Sends a text and returns the answer as text", params: [{ name: "text", required: true, schema: TEXT }] },
  [METHODS.send]: {
    about: "Sends a message. delivery: answer waits, accepted returns the task, stream sends events (accept: text/event-stream)",
    params: [
      { name: "message", required: true, schema: NO_SCHEMA },
      { name: "delivery", schema: { type: "string", enum: ["answer", "accepted", "stream"] } },
      { name: "task", schema: { type: "string", enum: ["auto", "always"] } },
    ],
  },
  [METHODS["task.get"]]: { about: "Returns a task", params: [TASK_ID] },
  [METHODS["task.list"]]: { about: "Lists the caller's tasks, a page at a time", params: [{ name: "pageToken", schema: TEXT }] },
  [METHODS["task.cancel"]]: { about: "Cancels a task", params: [TASK_ID] },
  [METHODS["task.subscribe"]]: {
    about: "The events of a task as a stream, after the cursor if one is given",
    params: [TASK_ID, { name: "after", schema: TEXT }, { name: "follow", schema: { type: "boolean" } }],
  },
  [METHODS.card]: { about: "Describes the agent", params: [] },
  [METHODS.ping]: { about: "Answers if the agent can be reached", params: [] },
};

/** The interface of an agent in OpenRPC 1.3.2. */
export function encodeInterface(card: Card, at: Addresses): JsonObject {
  return {
    openrpc: "1.3.2",
    info: {
      title: card.name,
      version: card.version === "" ? "1.0.0" : card.version,
      description: card.description === "" ? card.name : card.description,
      "x-anp-protocol-type": "ANP",
      "x-anp-protocol-version": "1.0.0",
    },
    security: [{ didwba: [] }],
    servers: [{ name: card.name, url: at.rpc, description: `JSON-RPC 2.0 of ${card.name}` }],
    methods: Object.entries(INFO).map(([name, { about, params }]) => ({
      name,
      summary: about,
      description: about,
      params: params.map(({ required = false, ...param }) => ({ ...param, required })),
      result: { name: "result", schema: NO_SCHEMA },
    })),
  };
}

/** A method of a peer's interface. */
export interface DescribedMethod {
  readonly name: string;
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly type: Maybe<string> }[];
}

/** A peer's interface: its methods, and where they are called. */
export interface PeerInterface {
  readonly url: Maybe<string>;
  readonly methods: readonly DescribedMethod[];
}

/** Throws DecodeProblem. */
export function decodeInterface(value: unknown): PeerInterface {
  const wire = readObject(value, "");
  if (typeof wire["openrpc"] !== "string") throw new DecodeProblem("openrpc", "is missing: it is not an OpenRPC document");
  const servers = optional(wire["servers"], "servers", (list, path) => readArray(list, path, readObject)) ?? [];
  const url = servers.map((server) => server["url"]).find((each) => typeof each === "string");
  return { url: url as Maybe<string>, methods: readArray(wire["methods"], "methods", readMethod) }; // found by its type
}

function readMethod(value: unknown, path: string): DescribedMethod {
  const method = readObject(value, path);
  return {
    name: readText(method["name"], `${path}.name`),
    params: readArray(method["params"] ?? [], `${path}.params`, (each, at) => {
      const param = readObject(each, at);
      const schema = isObject(param["schema"]) ? param["schema"] : {};
      return {
        name: readText(param["name"], `${at}.name`),
        required: param["required"] === true,
        type: typeof schema["type"] === "string" ? schema["type"] : undefined,
      };
    }),
  };
}

/** Whether these are the methods of a Koine server. */
export function isKoine({ methods }: PeerInterface): boolean {
  return methods.some(({ name }) => name === METHODS.send);
}
