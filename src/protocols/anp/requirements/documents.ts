import { isObject } from "../../../envelope/index.js";
import { ask } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, show, skip } from "../../check.js";
import { didWbaUrl } from "../identity/did-wba.js";
import { DISCOVERY_PATH } from "../wire.js";
import { type AnpRequirement, interfacesIn, methodsIn } from "./probe.js";

const ANP_07 = "ANP-07 1.2, agent description";
const OPENRPC = "OpenRPC 1.3.2";
const TYPES: ReadonlySet<unknown> = new Set(["NaturalLanguageInterface", "StructuredInterface", "MetaProtocolInterface"]);

/** The documents that describe an agent. */
export const documentRequirements: readonly AnpRequirement[] = [
  {
    key: "description:members",
    capability: "connectivity",
    source: ANP_07,
    behaviour: "The description has a protocol version, a name, security definitions and a security.",
    async run({ description }) {
      demandString(description["protocolVersion"], "protocolVersion");
      demandString(description["name"], "name");
      demandObject(description["securityDefinitions"], "securityDefinitions");
      demand(description["security"] !== undefined, "security is missing");
    },
  },
  {
    key: "description:type",
    capability: "connectivity",
    level: "should",
    source: ANP_07,
    behaviour: "The type of the description is AgentDescription.",
    async run({ description }) {
      demand(description["type"] === "AgentDescription", `type is ${show(description["type"])}`);
    },
  },
  {
    key: "description:public",
    capability: "connectivity",
    source: ANP_07,
    behaviour: "The description is served to anyone, without credentials.",
    async run({ subject, at }) {
      const { status } = await ask(subject, { method: "GET", url: at, anonymous: true });
      demand(status === 200, `answered ${status}`);
    },
  },
  {
    key: "description:interfaces",
    capability: "connectivity",
    source: ANP_07,
    behaviour: "Every interface has a known type, a protocol, and an address or a content.",
    async run({ description }) {
      const listed = demandArray(description["interfaces"], "interfaces");
      demand(listed.length > 0, "there are no interfaces");
      for (const each of interfacesIn(description)) {
        demand(TYPES.has(each["type"]), `type is ${show(each["type"])}`);
        demandString(each["protocol"], "protocol");
        demand(each["url"] !== undefined || isObject(each["content"]), "neither url nor content");
      }
    },
  },
  {
    key: "interface:openrpc",
    capability: "connectivity",
    source: OPENRPC,
    behaviour: "A structured interface is an OpenRPC document with a server and methods.",
    async run({ openrpc, rpc }) {
      if (openrpc === undefined) return skip("the description has no structured interface");
      demandString(openrpc["openrpc"], "openrpc");
      demand(rpc !== "", "no server has an address");
      demand(methodsIn(openrpc).length > 0, "there are no methods");
    },
  },
  {
    key: "interface:methods",
    capability: "connectivity",
    source: "anp 1.0.7: RemoteAgent.discover",
    behaviour: "Every method has a name, a description and parameters with names.",
    async run({ openrpc }) {
      for (const method of methodsIn(openrpc)) {
        demandString(method["name"], "name");
        demandString(method["description"], `description of ${show(method["name"])}`);
        for (const param of demandArray(method["params"], "params")) demandString(demandObject(param, "param")["name"], "name");
      }
    },
  },
  {
    key: "discovery:page",
    capability: "connectivity",
    level: "should",
    source: "ANP-08 1.2, active discovery",
    behaviour: "The host lists its agent descriptions at the well-known address.",
    async run({ subject, at }) {
      const { origin } = new URL(at);
      const { status, json } = await ask(subject, { method: "GET", url: origin + DISCOVERY_PATH });
      // A host that asks for a proof at every other path has none either.
      if (status === 404 || status === 401) skip("the host has no such page");
      const page = demandObject(json, "the page");
      demand(page["@type"] === "CollectionPage", `@type is ${show(page["@type"])}`);
      for (const item of demandArray(page["items"], "items")) demandString(demandObject(item, "item")["@id"], "@id");
    },
  },
  {
    key: "did:document",
    capability: "security",
    source: "ANP-03 1.2, did:wba",
    behaviour: "The DID of the description has a document with that id and a key for authentication.",
    async run({ subject, at, description }) {
      const did = description["did"] ?? description["identifier"];
      if (typeof did !== "string" || !did.startsWith("did:wba:")) return skip("the description names no did:wba");
      const where = didWbaUrl(did, { loopbackHttp: true });
      demand(where !== undefined, `${did} is not valid`);
      const { host } = new URL(where);
      if (host !== new URL(at).host && !/^(localhost|127\.)/.test(host)) return skip("its document is on another host");
      const document = demandObject((await ask(subject, { method: "GET", url: where })).json, "the document");
      demand(document["id"] === did, `id is ${show(document["id"])}`);
      demand(demandArray(document["authentication"], "authentication").length > 0, "no key authenticates");
      if (/:e1_[\w-]{43}$/.test(did)) demandObject(document["proof"], "proof");
    },
  },
];
