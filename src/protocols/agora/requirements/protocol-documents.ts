import { demand, show, skip } from "../../duty.js";
import { newDocument, type Sample, VECTORS } from "./documents.js";
import { type AgoraDuty, type Change, demandRefused, type Probe, post, say, stillServes } from "./probe.js";
import { isRejected, type Reply } from "./reply.js";

const HASH = "agora-protocol 0.2.0, utils.py, compute_hash";
const SOURCES = "agora-protocol 0.2.0, utils.py, download_and_verify_protocol";
const RECEIVER = "agora-protocol 0.2.0, receiver/core.py";
/** Nobody listens there. */
const DEAD = "http://127.0.0.1:9/protocol.txt";

function ask(probe: Probe, hash: unknown, protocolSources: unknown, change: Change = {}): ReturnType<typeof post> {
  // Checks send what a well-behaved peer would not.
  return post(probe, { protocolHash: hash, protocolSources, body: "{}" } as Parameters<typeof post>[1], change);
}

function offer(probe: Probe, { hash }: Sample, sources: readonly string[]): Promise<Reply> {
  return say(probe, { protocolHash: hash, protocolSources: sources, body: "{}" });
}

/** The text was found and believed: it is served, or rejected for what it says. */
function demandRead(reply: Reply, what: string): void {
  demand(reply.status === "success" || isRejected(reply), `${what}: answered ${show(reply.json)}`);
}

/** The text was not found, whatever else might be said of it. */
function demandNotFound(reply: Reply, what: string): void {
  demand(reply.status !== "success", `${what} was taken: ${show(reply.json)}`);
  demand(!isRejected(reply), `${what} was believed: ${show(reply.json)}`);
}

/** Documents by hash and source. Which ones an agent serves is its own affair; that it reads them right is not. */
export const documentDuties: readonly AgoraDuty[] = [
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
    behaviour: "The first source that holds the document counts; others before it do no harm.",
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
    behaviour: "An address where nobody answers does not keep a server from the next source.",
    async run(probe) {
      const sample = await newDocument(probe);
      demandRead(await offer(probe, sample, [DEAD, sample.uri]), "the document");
    },
  },
  {
    key: "document:tampered",
    capability: "security",
    source: SOURCES,
    behaviour: "A text with another hash than the message says is not taken.",
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
    behaviour: "A document that nobody knows, without a source, is refused.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const sources of [[], null]) demandRefused(await ask(probe, hash, sources));
    },
  },
  {
    key: "document:other-data-uri",
    capability: "edge-cases",
    source: SOURCES,
    behaviour: "Data URIs of other forms are passed over.",
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
    behaviour: "A data URI with broken base64 or bytes that are no UTF-8 is refused and breaks nothing.",
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
      "A document nobody serves is rejected in the words of the library: its hash, and that it is not suitable for execution.",
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
    behaviour: 'A document nobody serves is answered with exactly {"status":"rejected"}.',
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
    behaviour: "What was rejected is rejected again, with a source and without: the text is known by then.",
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
    behaviour: "A document without front matter is a document: it is served or rejected for what it says.",
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
    behaviour: "What cannot be a hash is refused as the caller's mistake, whatever type it has.",
    async run(probe) {
      for (const hash of ["", "no hash", "a".repeat(100_000), 7, true, {}, []]) demandRefused(await ask(probe, hash, []));
    },
  },
  {
    key: "document:sources-of-wrong-type",
    capability: "edge-cases",
    level: "should",
    source: "Agora specification (specs.html, 2024), transport",
    behaviour: "Sources that are no list of texts are refused as the caller's mistake.",
    async run(probe) {
      const { hash } = await newDocument(probe);
      for (const sources of ["data:", 7, {}, [7], [null]]) demandRefused(await ask(probe, hash, sources));
    },
  },
  {
    key: "document:many-sources",
    capability: "edge-cases",
    source: "CWE-400",
    behaviour: "A thousand sources are refused or passed over, and the server goes on.",
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
