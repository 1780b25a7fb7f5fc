import { demand, show, skip } from "../../check.js";
import { newDocument, type Sample, VECTORS } from "./documents.js";
import { type AgoraRequirement, type Change, demandRefused, type Probe, post, say, stillServes } from "./probe.js";
import { isRejected, type Reply } from "./reply.js";

const HASH = "agora-protocol 0.2.0, utils.py, compute_hash";
const SOURCES = "agora-protocol 0.2.0, utils.py, download_and_verify_protocol";
const RECEIVER = "agora-protocol 0.2.0, receiver/core.py";
/** A closed port. */
const DEAD = "http://127.0.0.1:9/protocol.txt";

function ask(probe: Probe, hash: unknown, protocolSources: unknown, change: Change = {}): ReturnType<typeof post> {
  // Checks send what a well-behaved peer would not.
  return post(probe, { protocolHash: hash, protocolSources, body: "{}" } as Parameters<typeof post>[1], change);
}

function offer(probe: Probe, { hash }: Sample, sources: readonly string[]): Promise<Reply> {
  return say(probe, { protocolHash: hash, protocolSources: sources, body: "{}" });
}

/** The text was found and verified: it is used, or rejected because of its content. */
function demandRead(reply: Reply, what: string): void {
  demand(reply.status === "success" || isRejected(reply), `${what}: answered ${show(reply.json)}`);
}

/** The text was not found. */
function demandNotFound(reply: Reply, what: string): void {
  demand(reply.status !== "success", `${what} was taken: ${show(reply.json)}`);
  demand(!isRejected(reply), `${what} was believed: ${show(reply.json)}`);
}

/** Documents by hash and source. Which documents an agent supports is optional; reading them correctly is not. */
export const documentRequirements: readonly AgoraRequirement[] = [
  {
    key: "document:hash-of-the-exact-bytes",
    capability: "round-trip",
    source: HASH,
    behaviour: "A document is known by the SHA-1 of its exact UTF-8 bytes: line ends, a last newline and composed letters count.",
    async run(probe) {
      for (const vector of VECTORS) demandRead(await offer(probe, vector, [vector.uri]), show(vector.text));
    },
  },
  {
    key: "document:percent-encoded",
    capability: "round-trip",
    source: SOURCES,
    behaviour: "A document comes in a data URI with percent signs, which is what the library sends.",
    async run(probe) {
      const sample = await newDocument(probe, "Prozent % / ß");
      demandRead(await offer(probe, sample, [sample.uri]), "the document");
    },
  },
  {
    key: "document:base64",
    capability: "round-trip",
    source: SOURCES,
    behaviour: "A document comes in a data URI in base64.",
    async run(probe) {
      const sample = await newDocument(probe, "Größe");
      demandRead(await offer(probe, sample, [sample.base64]), "the document");
    },
  },
  {
    key: "document:any-source",
    capability: "round-trip",
    source: SOURCES,
    behaviour: "The first source with the document is used; earlier ones are skipped.",
    async run(probe) {
      const [sample, other] = await Promise.all([newDocument(probe), newDocument(probe)]);
      demandRead(await offer(probe, sample, ["data:,nothing", other.uri, sample.uri]), "the document");
    },
  },
  {
    key: "document:dead-source",
    capability: "edge-cases",
    level: "should",
    source: `${SOURCES}: they are tried in order`,
    behaviour: "An unreachable source does not prevent the next one from being used.",
    async run(probe) {
      const sample = await newDocument(probe);
      demandRead(await offer(probe, sample, [DEAD, sample.uri]), "the document");
    },
  },
  {
    key: "document:tampered",
    capability: "security",
    source: SOURCES,
    behaviour: "A text whose hash differs from that of the message is rejected.",
    async run(probe) {
      const [sample, other] = await Promise.all([newDocument(probe), newDocument(probe)]);
      demandNotFound(await offer(probe, sample, [other.uri, other.base64]), "another text");
    },
  },
  {
    key: "document:not-normalised",
    capability: "security",
    source: HASH,
    behaviour: "A text that differs only in its line ends or in a last newline is another text.",
    async run(probe) {
      const sample = await newDocument(probe);
      const variants = [sample.text.replaceAll("\n", "\r\n"), sample.text.trimEnd(), sample.text.toLowerCase()];
      const uris = variants.map((text) => `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`);
      demandNotFound(await offer(probe, sample, uris), "a text that is nearly the same");
    },
  },
  {
    key: "document:no-source",
    capability: "edge-cases",
    source: RECEIVER,
    behaviour: "An unknown document without a source is rejected.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const sources of [[], null]) demandRefused(await ask(probe, hash, sources));
    },
  },
  {
    key: "document:other-data-uri",
    capability: "edge-cases",
    source: SOURCES,
    behaviour: "Data URIs of other forms are skipped.",
    async run(probe) {
      const { hash, text } = await newDocument(probe);
      const encoded = encodeURIComponent(text);
      const uris = [`data:,${encoded}`, `data:text/markdown;charset=utf-8,${encoded}`, "data:"];
      demandNotFound(await offer(probe, { hash, text, uri: "", base64: "" }, uris), "the document");
    },
  },
  {
    key: "document:broken-base64",
    capability: "edge-cases",
    source: SOURCES,
    behaviour: "A data URI with broken base64 or bytes that are not UTF-8 is rejected.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const broken of ["%%%", "/w==", "AA=A"])
        demandRefused(await ask(probe, hash, [`data:text/plain;charset=utf-8;base64,${broken}`]));
      await stillServes(probe);
    },
  },
  {
    key: "document:rejected",
    capability: "round-trip",
    source: RECEIVER,
    behaviour:
      "An unsupported document is rejected with the text of the library: its hash, and that it is not suitable for execution.",
    dialects: ["python", "demo"],
    async run(probe) {
      const sample = await newDocument(probe);
      const reply = await offer(probe, sample, [sample.uri]);
      if (reply.status === "success") skip("its model serves every document");
      demand(reply.status === "error", `status is ${show(reply.status)}`);
      demand(reply.text === `${sample.hash} is not suitable for execution`, `it says ${show(reply.text)}`);
    },
  },
  {
    key: "document:rejected-exactly",
    capability: "round-trip",
    source: "Agora specification (specs.html, 2024), unsupported protocols",
    behaviour: 'An unsupported document is answered with exactly {"status":"rejected"}.',
    dialects: ["spec"],
    async run(probe) {
      const sample = await newDocument(probe);
      const reply = await offer(probe, sample, [sample.uri]);
      if (reply.status === "success") skip("its model serves every document");
      demand(show(reply.json) === '{"status":"rejected"}', `answered ${show(reply.json)}`);
    },
  },
  {
    key: "document:rejected-again",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: "A rejected document is rejected again, with and without a source.",
    async run(probe) {
      const sample = await newDocument(probe);
      const first = await offer(probe, sample, [sample.uri]);
      if (first.status === "success") skip("its model serves every document");
      for (const sources of [[sample.uri], []]) {
        const again = await offer(probe, sample, sources);
        demand(isRejected(again), `answered ${show(again.json)}`);
      }
    },
  },
  {
    key: "document:without-front-matter",
    capability: "round-trip",
    level: "should",
    source: "Agora specification (specs.html, 2024): a document is any text",
    behaviour: "A document without front matter is valid: it is used, or rejected because of its content.",
    async run(probe) {
      const text = `Word ${probe.subject.newId()}: nobody can serve this.`;
      const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
      const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
      const uri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
      demandRead(await offer(probe, { hash, text, uri, base64: uri }, [uri]), "the document");
    },
  },
  {
    key: "document:listed-needs-no-source",
    capability: "round-trip",
    source: "Agora specification (specs.html, 2024), discovery",
    behaviour: "A document that discovery lists is known by its hash alone.",
    needs: ["listed"],
    async run(probe) {
      for (const hash of probe.listed.keys()) {
        const reply = await say(probe, { protocolHash: hash, protocolSources: [], body: "{}" });
        demand(
          !/download/i.test(reply.text) && reply.status !== "rejected" && !isRejected(reply),
          `answered ${show(reply.json)}`,
        );
      }
    },
  },
  {
    key: "document:listed-is-served",
    capability: "round-trip",
    source: "Agora specification (specs.html, 2024), discovery",
    behaviour: "A listed document is answered under its hash with a text.",
    needs: ["listed", "commands"],
    async run(probe) {
      const [hash = "", sources = []] = [...probe.listed][0] ?? [];
      const reply = await say(probe, { protocolHash: hash, protocolSources: sources, body: '{"city":"Paris"}' });
      demand(reply.status === "success" && reply.text !== "", `answered ${show(reply.json)}`);
    },
  },
  {
    key: "document:no-hash",
    capability: "edge-cases",
    level: "should",
    source: HASH,
    behaviour: "An invalid hash of any type is rejected as a client error.",
    async run(probe) {
      for (const hash of ["", "no hash", "a".repeat(100_000), 7, true, {}, []]) demandRefused(await ask(probe, hash, []));
    },
  },
  {
    key: "document:sources-of-wrong-type",
    capability: "edge-cases",
    level: "should",
    source: "Agora specification (specs.html, 2024), transport",
    behaviour: "Sources that are not a list of strings are rejected as a client error.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const sources of ["data:", 7, {}, [7], [null]]) demandRefused(await ask(probe, hash, sources));
    },
  },
  {
    key: "document:many-sources",
    capability: "edge-cases",
    source: "CWE-400",
    behaviour: "A thousand sources are rejected or skipped, and the server stays available.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      demandRefused(
        await ask(
          probe,
          hash,
          Array.from({ length: 1_000 }, () => "data:,x"),
        ),
      );
      await stillServes(probe);
    },
  },
];
