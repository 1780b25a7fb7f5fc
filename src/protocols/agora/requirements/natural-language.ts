import { demand, show } from "../../duty.js";
import { type AgoraDuty, natural, type Probe, post, say, talk } from "./probe.js";
import { readReply } from "./reply.js";

const SPEC = "Agora specification (specs.html, 2024), transport";
const SENDER = "agora-protocol 0.2.0, sender/components/transporter.py";
const RECEIVER = "agora-protocol 0.2.0, receiver/server.py";

/** What the conformance agent says to a text that is no command. */
async function demandEcho(probe: Probe, text: string): Promise<void> {
  const reply = await talk(probe, text);
  demand(reply.text === `you said: ${text}`, `${show(text)} came back as ${show(reply.text)}`);
}

/** The plainest message: no document, one text. */
export const naturalDuties: readonly AgoraDuty[] = [
  {
    key: "natural:answered",
    capability: "round-trip",
    source: SPEC,
    behaviour: 'A message without a document is answered with {"status":"success","body":"…"}.',
    async run(probe) {
      const { json, got } = await talk(probe);
      demand(got.status === 200, `answered ${got.status}`);
      demand(typeof json["body"] === "string", `body is ${show(json["body"])}, not a string`);
    },
  },
  {
    key: "natural:at-the-root",
    capability: "connectivity",
    source: RECEIVER,
    behaviour: "Messages are taken at the address itself, which is where the library's sender posts.",
    async run(probe) {
      await talk(probe, "hello", {}, { url: `${probe.subject.url}/` });
    },
  },
  {
    key: "natural:at-agora",
    capability: "connectivity",
    level: "should",
    source: "seed G.3, G.7",
    behaviour: "Messages are taken at /agora, too, with the same answer.",
    async run(probe) {
      await talk(probe, "hello", {}, { url: `${probe.subject.url}/agora` });
    },
  },
  {
    key: "natural:json",
    capability: "round-trip",
    source: SPEC,
    behaviour: "The reply says that it is JSON.",
    async run(probe) {
      const { got } = await talk(probe);
      const type = got.headers["content-type"] ?? "";
      demand(/^application\/json\b/i.test(type), `Content-Type is ${show(type)}`);
    },
  },
  {
    key: "natural:sources-empty",
    capability: "round-trip",
    source: SENDER,
    behaviour: "An empty list of sources is taken, which is what the library sends.",
    async run(probe) {
      await talk(probe, "hello", { protocolSources: [] });
    },
  },
  {
    key: "natural:sources-null",
    capability: "round-trip",
    source: SPEC,
    behaviour: "Sources that are null are taken, which is what the specification says.",
    async run(probe) {
      await talk(probe, "hello", { protocolSources: null });
    },
  },
  {
    key: "natural:sources-absent",
    capability: "round-trip",
    level: "should",
    source: SPEC,
    behaviour: "Sources that are not there are taken: there is nothing to say.",
    async run(probe) {
      const reply = await say(probe, { protocolHash: null, body: "hello" });
      demand(reply.status === "success", `answered ${show(reply.json)}`);
    },
  },
  {
    key: "natural:no-conversation",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: "No conversation is opened for a message that did not ask for one.",
    async run(probe) {
      const { conversationId } = await talk(probe);
      demand(conversationId === undefined, `conversationId is ${show(conversationId)}`);
    },
  },
  {
    key: "natural:multiround-false",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: '"multiround": false is as good as none.',
    async run(probe) {
      const { conversationId } = await talk(probe, "hello", { multiround: false });
      demand(conversationId === undefined, `conversationId is ${show(conversationId)}`);
    },
  },
  {
    key: "natural:unknown-members",
    capability: "round-trip",
    source: "RFC 8259 §4; paper-demo, queryId",
    behaviour: "Members nobody knows are ignored, the demo's queryId among them.",
    async run(probe) {
      await talk(probe, "hello", { queryId: "q-1", later: { deep: [1] } });
    },
  },
  {
    key: "natural:seed-metadata",
    capability: "round-trip",
    source: "seed 000, Table 8",
    behaviour: "The seed's metadata beside the message is taken.",
    async run(probe) {
      const metadata = { request_id: probe.subject.newId(), source: "check", trace_id: "0af7651916cd43dd8448eb211c80319c" };
      await talk(probe, "hello", { metadata });
    },
  },
  {
    key: "natural:charset",
    capability: "round-trip",
    source: "RFC 9110 §8.3.1",
    behaviour: "A content type with parameters and other letter case is taken.",
    async run(probe) {
      await talk(probe, "hello", {}, { headers: { "content-type": "Application/JSON; Charset=UTF-8" } });
    },
  },
  {
    key: "natural:unicode",
    capability: "round-trip",
    source: "RFC 8259 §8.1",
    behaviour: "Text beyond ASCII goes there and back unchanged.",
    needs: ["commands"],
    run: (probe) => demandEcho(probe, "Zürich 温度 🌡 \u200d e\u0301"),
  },
  {
    key: "natural:whitespace",
    capability: "round-trip",
    source: SPEC,
    behaviour: "Spaces, tabs and newlines of a text are part of it.",
    needs: ["commands"],
    run: (probe) => demandEcho(probe, "  two\r\n\tlines \n"),
  },
  {
    key: "natural:json-stays-text",
    capability: "round-trip",
    source: `${SPEC}: the body is a string`,
    behaviour: "In natural language a body that looks like JSON is still a text.",
    needs: ["commands"],
    run: (probe) => demandEcho(probe, '{"a": 1}'),
  },
  {
    key: "natural:own-answer",
    capability: "round-trip",
    source: "seed G.6, capability 2",
    behaviour: "Two messages get two answers, each its own.",
    needs: ["commands"],
    async run(probe) {
      await demandEcho(probe, "first");
      await demandEcho(probe, "second");
    },
  },
  {
    key: "natural:plain-reply",
    capability: "round-trip",
    source: SENDER,
    behaviour: "Who sends only the official members gets only the official ones.",
    async run(probe) {
      const { json } = await talk(probe);
      const more = Object.keys(json).filter((name) => name !== "status" && name !== "body");
      demand(more.length === 0, `the reply has ${more.join(", ")} as well`);
    },
  },
  {
    key: "natural:only-by-post",
    capability: "edge-cases",
    level: "should",
    source: RECEIVER,
    behaviour: "A message that comes by another method than POST is refused.",
    async run(probe) {
      const { status } = await post(probe, natural("hello"), { method: "PUT" });
      demand(status === 405 || status === 404, `PUT answered ${status}`);
    },
  },
  {
    key: "natural:streaming-not-faked",
    capability: "streaming",
    source: SPEC,
    behaviour: "Agora has no streams: who would take one still gets one reply in JSON.",
    async run(probe) {
      const got = await post(probe, natural("hello"), { headers: { accept: "text/event-stream, application/json" } });
      demand(/^application\/json\b/i.test(got.headers["content-type"] ?? ""), `it is ${show(got.headers["content-type"])}`);
      readReply(got);
    },
  },
  {
    key: "natural:streamed-work-is-whole",
    capability: "streaming",
    source: SPEC,
    behaviour: "Work that comes in pieces is answered as one text with all of them, in order.",
    needs: ["commands"],
    async run(probe) {
      const { text } = await talk(probe, "conform: stream 3");
      demand(/chunk 1\s+chunk 2\s+chunk 3/.test(text), `the answer is ${show(text)}`);
    },
  },
  {
    key: "natural:stream-asked-for",
    capability: "streaming",
    source: "seed 000, Table 8: stream",
    behaviour: "A message that asks for a stream is answered with one whole reply all the same.",
    async run(probe) {
      const { got } = await talk(probe, "hello", { stream: true, metadata: { stream: true } });
      demand(/^application\/json\b/i.test(got.headers["content-type"] ?? ""), `it is ${show(got.headers["content-type"])}`);
    },
  },
];
