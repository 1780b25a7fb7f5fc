import { ask } from "../../ask.js";
import { demand, demandObject, demandString, show, skip } from "../../check.js";
import { isHash, protocolHash } from "../documents/hash.js";
import { textInDataUri } from "../documents/sources.js";
import { DIALECTS } from "../wire.js";
import { type AgoraRequirement, conversationUrl, DEMO_PATH, listedIn, OWN_PATH, type Probe, SPEC_PATH } from "./probe.js";

const SPEC = "Agora specification (specs.html, 2024), discovery";
const DEMO = "paper-demo, GET /wellknown";
const OWN = "Koine's own discovery document";

async function get(probe: Probe, path: string): Promise<unknown> {
  const got = await ask(probe.subject, { method: "GET", url: probe.subject.url + path });
  if (got.status === 404) skip(`${path} is not there`);
  demand(got.status === 200, `${path} answered ${got.status}`);
  demand(/^application\/json\b/i.test(got.headers["content-type"] ?? ""), `${path} is ${show(got.headers["content-type"])}`);
  return got.json;
}

/** Discovery by anonymous callers. */
export const discoveryRequirements: readonly AgoraRequirement[] = [
  {
    key: "discovery:delete-proves-it",
    capability: "connectivity",
    source: "agora-protocol 0.2.0, receiver/server.py",
    behaviour: "DELETE of an unknown conversation succeeds, which identifies the protocol without sending a message.",
    dialects: ["python"],
    async run({ subject }) {
      const got = await ask(subject, { method: "DELETE", url: conversationUrl(subject, subject.newId()) });
      demand(got.status === 200, `answered ${got.status}`);
      demand(demandObject(got.json, "the reply")["status"] === "success", `answered ${show(got.json)}`);
    },
  },
  {
    key: "discovery:map",
    capability: "connectivity",
    source: SPEC,
    behaviour: "GET /.wellknown maps the hash of every supported document to its list of sources.",
    async run(probe) {
      const map = demandObject(await get(probe, SPEC_PATH), SPEC_PATH);
      for (const [hash, sources] of Object.entries(map)) {
        const fits = Array.isArray(sources) && sources.every((source) => typeof source === "string");
        demand(fits, `${hash} has ${show(sources)}, not a list of addresses`);
      }
    },
  },
  {
    key: "discovery:hashes",
    capability: "connectivity",
    source: "agora-protocol 0.2.0, utils.py, compute_hash",
    behaviour: "Every listed hash is the padded base64 of a SHA-1.",
    needs: ["listed"],
    async run({ listed }) {
      for (const hash of listed.keys()) demand(isHash(hash), `${show(hash)} is not such a hash`);
    },
  },
  {
    key: "discovery:sources-match",
    capability: "connectivity",
    source: SPEC,
    behaviour: "A listed data URI, and a listed address of the same server, hold exactly the document with that hash.",
    needs: ["listed"],
    async run(probe) {
      for (const [hash, sources] of probe.listed) for (const source of sources) await demandMatch(probe, hash, source);
    },
  },
  {
    key: "discovery:reachable",
    capability: "connectivity",
    level: "should",
    source: SPEC,
    behaviour: "Every listed document has at least one source.",
    needs: ["listed"],
    async run({ listed }) {
      for (const [hash, sources] of listed) demand(sources.length > 0, `${hash} has no source`);
    },
  },
  {
    key: "discovery:demo-shape",
    capability: "connectivity",
    source: DEMO,
    behaviour: 'GET /wellknown answers {"status":"success","protocols":{…}}.',
    async run(probe) {
      const { status, protocols } = demandObject(await get(probe, DEMO_PATH), DEMO_PATH);
      demand(status === "success", `status is ${show(status)}`);
      demandObject(protocols, "protocols");
    },
  },
  {
    key: "discovery:lists-agree",
    capability: "connectivity",
    source: `${SPEC}; ${DEMO}`,
    behaviour: "Both lists name the same documents.",
    async run(probe) {
      const demo = demandObject(await get(probe, DEMO_PATH), DEMO_PATH)["protocols"];
      const one = [...listedIn(await get(probe, SPEC_PATH)).keys()].sort();
      const other = [...listedIn(demo).keys()].sort();
      demand(show(one) === show(other), `${SPEC_PATH} has ${show(one)}, ${DEMO_PATH} has ${show(other)}`);
    },
  },
  {
    key: "discovery:own-names",
    capability: "connectivity",
    source: OWN,
    behaviour: "/.well-known/agora names the agent, its dialect and the version of the document's form.",
    needs: ["koine"],
    async run(probe) {
      const own = demandObject(await get(probe, OWN_PATH), OWN_PATH);
      for (const name of ["name", "description", "version"]) demandString(own[name], name);
      const { dialect } = own;
      demand(
        DIALECTS.some((each) => each === dialect),
        `dialect is ${show(dialect)}`,
      );
    },
  },
  {
    key: "discovery:head",
    capability: "connectivity",
    level: "should",
    source: "RFC 9110 §9.3.2",
    behaviour: "HEAD of a discovery document is answered like GET, without a body.",
    async run(probe) {
      await get(probe, SPEC_PATH);
      const got = await ask(probe.subject, { method: "HEAD", url: probe.subject.url + SPEC_PATH });
      demand(got.status === 200, `answered ${got.status}`);
      demand(got.bytes.length === 0, `${got.bytes.length} bytes came with it`);
    },
  },
  {
    key: "discovery:is-public",
    capability: "security",
    level: "should",
    source: SPEC,
    behaviour: "The list of documents needs no credentials.",
    needs: ["credentials"],
    async run(probe) {
      await get(probe, SPEC_PATH);
      const got = await ask(probe.subject, { method: "GET", url: probe.subject.url + SPEC_PATH, anonymous: true });
      demand(got.status === 200, `answered ${got.status}`);
    },
  },
  {
    key: "discovery:document-text",
    capability: "connectivity",
    source: "Koine: GET /protocols/{hash}",
    behaviour: "A document of a Koine server can be read under /protocols/, as plain text in UTF-8, byte for byte.",
    needs: ["koine", "listed"],
    async run(probe) {
      for (const hash of probe.listed.keys()) {
        const got = await ask(probe.subject, { method: "GET", url: documentUrl(probe, hash) });
        demand(got.status === 200, `answered ${got.status}`);
        const type = got.headers["content-type"] ?? "";
        demand(/^text\/plain; ?charset=utf-8$/i.test(type), `it is ${show(type)}`);
        demand((await protocolHash(got.text)) === hash, "the text has another hash");
      }
    },
  },
  {
    key: "discovery:document-unknown",
    capability: "connectivity",
    source: "Koine: GET /protocols/{hash}",
    behaviour: "An unknown document, and a name outside of the folder, are not found.",
    needs: ["koine"],
    async run(probe) {
      for (const name of ["2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "../../etc/passwd", "%", ""]) {
        const got = await ask(probe.subject, { method: "GET", url: documentUrl(probe, name) });
        demand(got.status === 404 || got.status === 400, `${show(name)} answered ${got.status}`);
      }
    },
  },
];

function documentUrl({ subject }: Probe, name: string): string {
  return `${subject.url}/protocols/${encodeURIComponent(name)}`;
}

async function demandMatch(probe: Probe, hash: string, source: string): Promise<void> {
  const text = await textAt(probe, source);
  if (text === undefined) return;
  demand((await protocolHash(text)) === hash, `${source.slice(0, 80)} holds a text with another hash than ${hash}`);
}

/** Undefined for other hosts: a check sends no requests to third parties. */
async function textAt({ subject }: Probe, source: string): Promise<string | undefined> {
  if (source.startsWith("data:")) {
    const text = textInDataUri(source);
    demand(text !== undefined, `${source.slice(0, 80)} is not one of the two supported forms of data URI`);
    return text;
  }
  if (!URL.canParse(source) || new URL(source).origin !== new URL(subject.url).origin) return undefined;
  const got = await ask(subject, { method: "GET", url: source });
  demand(got.status === 200, `${source} answered ${got.status}`);
  return got.text;
}
