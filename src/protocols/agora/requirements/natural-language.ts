import { demand, show } from "../../check.js";
import { type AgoraRequirement, natural, type Probe, post, say, sendMessage } from "./probe.js";
import { readReply } from "./reply.js";

const SPEC = "Agora specification (specs.html, 2024), transport";
const SENDER = "agora-protocol 0.2.0, sender/components/transporter.py";
const RECEIVER = "agora-protocol 0.2.0, receiver/server.py";

/** The answer of the conformance agent to a text that is not a command. */
async function demandEcho(probe: Probe, text: string): Promise<void> {
  const reply = await sendMessage(probe, text);
  demand(reply.text === `you said: ${text}`, `${show(text)} came back as ${show(reply.text)}`);
}

/** Plain messages: no document, one text. */
export const naturalRequirements: readonly AgoraRequirement[] = [
  {
    key: "natural:answered",
    capability: "round-trip",
    source: SPEC,
    behaviour: 'A message without a document is answered with {"status":"success","body":"…"}.',
    async run(probe) {
      const { json, got } = await sendMessage(probe);
      demand(got.status === 200, `answered ${got.status}`);
      demand(typeof json["body"] === "string", `body is ${show(json["body"])}, not a string`);
    },
  },
  {
    key: "natural:at-the-root",
    capability: "connectivity",
    source: RECEIVER,
    behaviour: "Messages are accepted at the address itself, where the library's sender posts.",
    async run(probe) {
      await sendMessage(probe, "hello", {}, { url: `${probe.subject.url}/` });
    },
  },
  {
    key: "natural:at-agora",
    capability: "connectivity",
    level: "should",
    source: "seed G.3, G.7",
    behaviour: "Messages are also accepted at /agora, with the same answer.",
    async run(probe) {
      await sendMessage(probe, "hello", {}, { url: `${probe.subject.url}/agora` });
    },
  },
  {
    key: "natural:json",
    capability: "round-trip",
    source: SPEC,
    behaviour: "The reply is JSON by its content type.",
    async run(probe) {
      const { got } = await sendMessage(probe);
      const type = got.headers["content-type"] ?? "";
      demand(/^application\/json\b/i.test(type), `Content-Type is ${show(type)}`);
    },
  },
  {
    key: "natural:sources-empty",
    capability: "round-trip",
    source: SENDER,
    behaviour: "An empty list of sources is accepted, as the library sends it.",
    async run(probe) {
      await sendMessage(probe, "hello", { protocolSources: [] });
    },
  },
  {
    key: "natural:sources-null",
    capability: "round-trip",
    source: SPEC,
    behaviour: "Null sources are accepted, as the specification defines.",
    async run(probe) {
      await sendMessage(probe, "hello", { protocolSources: null });
    },
  },
  {
    key: "natural:sources-absent",
    capability: "round-trip",
    level: "should",
    source: SPEC,
    behaviour: "Absent sources are accepted.",
    async run(probe) {
      const reply = await say(probe, { protocolHash: null, body: "hello" });
      demand(reply.status === "success", `answered ${show(reply.json)}`);
    },
  },
  {
    key: "natural:no-conversation",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: "No conversation is opened for a message that did not request one.",
    async run(probe) {
      const { conversationId } = await sendMessage(probe);
      demand(conversationId === undefined, `conversationId is ${show(conversationId)}`);
    },
  },
  {
    key: "natural:multiround-false",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: '"multiround": false is equivalent to absent.',
    async run(probe) {
      const { conversationId } = await sendMessage(probe, "hello", { multiround: false });
      demand(conversationId === undefined, `conversationId is ${show(conversationId)}`);
    },
  },
  {
    key: "natural:unknown-members",
    capability: "round-trip",
    source: "RFC 8259 §4; paper-demo, queryId",
    behaviour: "Unknown members are ignored, including the demo's queryId.",
    async run(probe) {
      await sendMessage(probe, "hello", { queryId: "q-1", later: { deep: [1] } });
    },
  },
  {
    key: "natural:seed-metadata",
    capability: "round-trip",
    source: "seed 000, Table 8",
    behaviour: "The seed's metadata beside the message is accepted.",
    async run(probe) {
      const metadata = { request_id: probe.subject.newId(), source: "check", trace_id: "0af7651916cd43dd8448eb211c80319c" };
      await sendMessage(probe, "hello", { metadata });
    },
  },
  {
    key: "natural:charset",
    capability: "round-trip",
    source: "RFC 9110 §8.3.1",
    behaviour: "A content type with parameters and in another letter case is accepted.",
    async run(probe) {
      await sendMessage(probe, "hello", {}, { headers: { "content-type": "Application/JSON; Charset=UTF-8" } });
    },
  },
  {
    key: "natural:unicode",
    capability: "round-trip",
    source: "RFC 8259 §8.1",
    behaviour: "Non-ASCII text is returned unchanged.",
    needs: ["commands"],
    run: (probe) => demandEcho(probe, "Zürich 温度 🌡 \u200d e\u0301"),
  },
  {
    key: "natural:whitespace",
    capability: "round-trip",
    source: SPEC,
    behaviour: "Spaces, tabs and newlines of a text are preserved.",
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
    behaviour: "Two messages get separate answers.",
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
    behaviour: "A request with only official members gets a reply with only official members.",
    async run(probe) {
      const { json } = await sendMessage(probe);
      const more = Object.keys(json).filter((name) => name !== "status" && name !== "body");
      demand(more.length === 0, `the reply has ${more.join(", ")} as well`);
    },
  },
  {
    key: "natural:only-by-post",
    capability: "edge-cases",
    level: "should",
    source: RECEIVER,
    behaviour: "A message with another method than POST is rejected.",
    async run(probe) {
      const { status } = await post(probe, natural("hello"), { method: "PUT" });
      demand(status === 405 || status === 404, `PUT answered ${status}`);
    },
  },
  {
    key: "natural:streaming-not-faked",
    capability: "streaming",
    source: SPEC,
    behaviour: "Agora has no streams: a request that accepts an event stream still gets one JSON reply.",
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
    behaviour: "A chunked result is answered as one text with all chunks, in order.",
    needs: ["commands"],
    async run(probe) {
      const { text } = await sendMessage(probe, "conform: stream 3");
      demand(/chunk 1\s+chunk 2\s+chunk 3/.test(text), `the answer is ${show(text)}`);
    },
  },
  {
    key: "natural:stream-asked-for",
    capability: "streaming",
    source: "seed 000, Table 8: stream",
    behaviour: "A message that requests a stream is answered with one complete reply.",
    async run(probe) {
      const { got } = await sendMessage(probe, "hello", { stream: true, metadata: { stream: true } });
      demand(/^application\/json\b/i.test(got.headers["content-type"] ?? ""), `it is ${show(got.headers["content-type"])}`);
    },
  },
];
