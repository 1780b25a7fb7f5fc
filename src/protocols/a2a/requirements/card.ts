import { isObject, type JsonObject } from "../../../envelope/index.js";
import { ask, type RawResponse } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, type RequirementText, show, skip, toRequirement } from "../../check.js";
import type { Requirement } from "../../requirement.js";
import { grpcOrigin } from "../grpc/address.js";
import { signatureRequirements } from "./card-signatures.js";
import { CARD_PATH, type CardRequirement, cardOf, listOf, OLD_CARD_PATH, viewCard } from "./card-view.js";

const SECTION = "A2A 1.0 §8";
const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(\s*;.*)?$/;
/** The members required by both versions (A2A 1.0 §4.4.1, 0.3 §5.5). */
const STRINGS = ["name", "description", "version"];
const LISTS = ["defaultInputModes", "defaultOutputModes", "skills"];

const REQUIREMENTS: readonly CardRequirement[] = [
  {
    key: "strings",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.1",
    behaviour: "The card has a name, a description and a version.",
    run: ({ document }) => STRINGS.forEach((name) => void demandString(document[name], name)),
  },
  {
    key: "lists",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.1",
    behaviour: "The card has input modes, output modes and skills as lists, and capabilities as an object.",
    run({ document }) {
      for (const name of LISTS) demandArray(document[name], name);
      demandObject(document["capabilities"], "capabilities");
    },
  },
  {
    key: "interfaces",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.6",
    behaviour: "The card lists at least one interface, each with url, binding and version.",
    run({ document, modern, interfaces }) {
      demand(interfaces.length > 0, "no interface has url, protocolBinding and protocolVersion");
      const listed = modern ? demandArray(document["supportedInterfaces"], "supportedInterfaces") : [];
      listed.forEach((entry, index) => {
        const each = demandObject(entry, `supportedInterfaces[${index}]`);
        for (const name of ["url", "protocolBinding", "protocolVersion"])
          demandString(each[name], `supportedInterfaces[${index}].${name}`);
      });
    },
  },
  {
    key: "absolute-urls",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.6",
    behaviour: "The URL of every HTTP interface is absolute.",
    run({ interfaces }) {
      const http = interfaces.filter(({ binding }) => binding === "JSONRPC" || binding === "HTTP+JSON");
      for (const { url } of http) demand(/^https?:\/\/[^/]+/.test(url), `${show(url)} is not an absolute http URL`);
    },
  },
  {
    key: "grpc-addresses",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.6",
    behaviour: "The URL of every gRPC interface is a host and a port, with or without a scheme.",
    run({ interfaces }, { url: base }) {
      const grpc = interfaces.filter(({ binding }) => binding === "GRPC");
      if (grpc.length === 0) skip("the card lists no gRPC interface");
      for (const { url } of grpc) demand(grpcOrigin(url, base) !== undefined, `${show(url)} is no address`);
    },
  },
  {
    key: "version-form",
    capability: "connectivity",
    level: "should",
    source: "A2A 1.0 §3.6",
    behaviour: "Interface versions have major and minor only.",
    run({ document, modern }) {
      if (!modern) skip("the card is in the 0.3 form, whose versions have three numbers");
      for (const { protocolVersion } of listOf(document["supportedInterfaces"]))
        demand(/^\d+\.\d+$/.test(String(protocolVersion)), `protocolVersion is ${show(protocolVersion)}`);
    },
  },
  {
    key: "skills",
    capability: "connectivity",
    source: "A2A 1.0 §4.4.5",
    behaviour: "Every skill has id, name, description and tags.",
    run({ document }) {
      demandArray(document["skills"], "skills").forEach((entry, index) => {
        const skill = demandObject(entry, `skills[${index}]`);
        for (const name of ["id", "name", "description"]) demandString(skill[name], `skills[${index}].${name}`);
        demandArray(skill["tags"], `skills[${index}].tags`);
      });
    },
  },
  {
    key: "modes",
    capability: "connectivity",
    level: "should",
    source: "A2A 1.0 §4.4.1",
    behaviour: "Input and output modes are media types.",
    run({ document }) {
      const modes = [document["defaultInputModes"], document["defaultOutputModes"]].flatMap((list) =>
        Array.isArray(list) ? list : [],
      );
      for (const mode of modes) demand(typeof mode === "string" && MEDIA_TYPE.test(mode), `${show(mode)} is not a media type`);
    },
  },
  {
    key: "camel-case",
    capability: "connectivity",
    source: "A2A 1.0 §5.5",
    behaviour: "The card's members are written in camelCase.",
    run({ document }) {
      const snake = snakeMembers(document);
      demand(snake.length === 0, `members in snake_case: ${snake.join(", ")}`);
    },
  },
  {
    key: "media-type",
    capability: "connectivity",
    level: "should",
    source: `${SECTION}.2`,
    behaviour: "The card is served as application/json.",
    run: ({ got }) => demandJsonType(got),
  },
  {
    key: "schemes",
    capability: "security",
    source: "A2A 1.0 §4.5.1",
    behaviour: "Every security scheme has exactly one kind.",
    run({ document, modern }) {
      if (!modern) skip("the card is in the 0.3 form, whose schemes have a type member");
      const schemes = isObject(document["securitySchemes"]) ? document["securitySchemes"] : {};
      for (const [name, scheme] of Object.entries(schemes)) {
        const kinds = Object.keys(demandObject(scheme, `securitySchemes.${name}`)).filter((member) =>
          member.endsWith("SecurityScheme"),
        );
        demand(kinds.length === 1, `securitySchemes.${name} has ${kinds.length} kinds: ${kinds.join(", ")}`);
      }
    },
  },
  {
    key: "requirements-named",
    capability: "security",
    source: "A2A 1.0 §4.4.1",
    behaviour: "Every scheme a security requirement names is declared.",
    run({ document, modern }) {
      const declared = isObject(document["securitySchemes"]) ? document["securitySchemes"] : {};
      for (const entry of listOf(document["securityRequirements"] ?? document["security"])) {
        const names = Object.keys(modern && isObject(entry["schemes"]) ? entry["schemes"] : entry);
        for (const name of names) demand(Object.hasOwn(declared, name), `${show(name)} is required and not in securitySchemes`);
      }
    },
  },
  {
    key: "transport-security",
    capability: "security",
    level: "should",
    source: "A2A 1.0 §7.1",
    behaviour: "Interfaces beyond loopback use https.",
    run({ interfaces }) {
      for (const { url } of interfaces)
        demand(!url.startsWith("http://") || isLoopback(url), `${url} is unencrypted over a network`);
    },
  },
  ...signatureRequirements,
  {
    key: "etag",
    capability: "connectivity",
    level: "should",
    source: `${SECTION}.6`,
    behaviour: "The card has an ETag.",
    run: ({ got }) => void demandString(got.headers["etag"], "the ETag header"),
  },
  {
    key: "not-modified",
    capability: "connectivity",
    level: "should",
    source: `${SECTION}.6, RFC 9110 §13.1.2`,
    behaviour: "A request with the card's own ETag in If-None-Match is answered 304 without a body.",
    async run({ got, path }, subject) {
      const etag = got.headers["etag"] ?? skip("the card has no ETag");
      const again = await ask(subject, {
        method: "GET",
        url: subject.url + path,
        headers: { "if-none-match": etag, "a2a-version": "1.0" },
      });
      demand(again.status === 304, `answered ${again.status}`);
      demand(again.text === "", "a 304 came with a body");
    },
  },
  {
    key: "cache-control",
    capability: "connectivity",
    level: "should",
    source: `${SECTION}.6`,
    behaviour: "The card has a Cache-Control lifetime.",
    run: ({ got }) =>
      demand(
        /max-age=\d+|no-cache|no-store/.test(got.headers["cache-control"] ?? ""),
        `cache-control is ${show(got.headers["cache-control"])}`,
      ),
  },
  {
    key: "vary",
    capability: "connectivity",
    source: "RFC 9110 §12.5.5",
    behaviour: "A card that depends on the A2A-Version header lists it in Vary.",
    async run({ path }, subject) {
      const fetchAs = (version: string): Promise<RawResponse> =>
        ask(subject, { method: "GET", url: subject.url + path, headers: { "a2a-version": version } });
      const [modern, old] = await Promise.all([fetchAs("1.0"), fetchAs("0.3")]);
      if (modern.text === old.text && modern.status === old.status) return;
      const vary = (modern.headers["vary"] ?? "").toLowerCase();
      demand(
        vary === "*" || vary.includes("a2a-version"),
        `the card differs by A2A-Version, and Vary is ${show(modern.headers["vary"])}`,
      );
    },
  },
  {
    key: "old-path",
    capability: "connectivity",
    level: "should",
    source: "A2A 0.2.5 §5.3",
    behaviour: "The card is also at /.well-known/agent.json, the path of clients up to 0.2.",
    async run(_card, subject) {
      const got = await ask(subject, { method: "GET", url: subject.url + OLD_CARD_PATH });
      demand(got.status === 200, `answered ${got.status}`);
      demandString(viewCard(got, OLD_CARD_PATH).document["name"], "name");
    },
  },
  {
    key: "any-version",
    capability: "connectivity",
    level: "should",
    source: `${SECTION}.2`,
    behaviour: "The card is served for any requested version, because clients learn the versions from it.",
    async run({ path }, subject) {
      const got = await ask(subject, { method: "GET", url: subject.url + path, headers: { "a2a-version": "99.0" } });
      demand(got.status === 200, `answered ${got.status}`);
    },
  },
  {
    key: "stable",
    capability: "connectivity",
    source: `${SECTION}.6`,
    behaviour: "Two requests return the same card.",
    async run({ got, path }, subject) {
      const again = await ask(subject, { method: "GET", url: subject.url + path, headers: { "a2a-version": "1.0" } });
      demand(again.text === got.text, "the second card differs from the first");
      demand(again.headers["etag"] === got.headers["etag"], "the ETag changed and the card did not");
    },
  },
];

const PRESENT: RequirementText = {
  key: "present",
  capability: "connectivity",
  source: `${SECTION}.2`,
  behaviour: "The card is at /.well-known/agent-card.json.",
};

/** The requirements for the card, independent of bindings. */
export const cardRequirements: readonly Requirement[] = [
  toRequirement("a2a:card", PRESENT, undefined, async (subject) => {
    const got = await ask(subject, { method: "GET", url: subject.url + CARD_PATH });
    demand(got.status === 200, `answered ${got.status}`);
    demandObject(got.json, "the card");
  }),
  ...REQUIREMENTS.map((requirement) =>
    toRequirement("a2a:card", requirement, undefined, async (subject) => requirement.run(await cardOf(subject), subject)),
  ),
];

function demandJsonType(got: RawResponse): void {
  const type = got.headers["content-type"] ?? "";
  demand(/^application\/([\w.-]+\+)?json\b/.test(type), `content-type is ${show(type)}`);
}

/** Members that are free-form or have names chosen by the author are skipped. */
function snakeMembers(document: JsonObject): readonly string[] {
  const known = [document, ...listOf(document["supportedInterfaces"]), ...listOf(document["skills"])];
  if (isObject(document["capabilities"])) known.push(document["capabilities"]);
  return known.flatMap((object) => Object.keys(object).filter((name) => /^[a-z]+_[a-z_]+$/.test(name)));
}

function isLoopback(url: string): boolean {
  return /^http:\/\/(127\.|localhost\b|\[::1\])/.test(url);
}
