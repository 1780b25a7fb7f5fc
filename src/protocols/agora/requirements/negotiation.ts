import { demand, demandString, show, skip } from "../../check.js";
import { NEGOTIATION } from "../wire.js";
import { newDocument } from "./documents.js";
import { type AgoraRequirement, conversationUrl, demandRefused, type Probe, remove, say } from "./probe.js";
import { isRejected, type Reply } from "./reply.js";

const SENDER = "agora-protocol 0.2.0, sender/core.py, _negotiate_protocol";
const RECEIVER = "agora-protocol 0.2.0, receiver/components/negotiator.py";
/** The round limit of the Python library. */
const ROUNDS = 10;
const WISH = "I would like to ask for the temperature of a city. Which document shall we use?";

function negotiate(probe: Probe, body: string, id?: string): Promise<Reply> {
  const url = id === undefined ? probe.url : conversationUrl(probe.subject, id);
  return say(probe, { protocolHash: NEGOTIATION, protocolSources: null, body, multiround: true }, { url });
}

async function opened(probe: Probe, body = WISH): Promise<Reply & { readonly id: string }> {
  const reply = await negotiate(probe, body);
  if (reply.status !== "success" && probe.dialect === "spec") skip(`it does not negotiate: ${reply.text}`);
  demand(reply.status === "success", `answered ${show(reply.json)}`);
  return { ...reply, id: demandString(reply.conversationId, "conversationId") };
}

/** Negotiation of a document. */
export const negotiationRequirements: readonly AgoraRequirement[] = [
  {
    key: "negotiation:opened",
    capability: "round-trip",
    source: SENDER,
    behaviour: 'protocolHash "negotiation" with sources null opens a conversation and is answered with text.',
    async run(probe) {
      demandString((await opened(probe)).text, "body");
    },
  },
  {
    key: "negotiation:ten-rounds",
    capability: "round-trip",
    source: "agora-protocol 0.2.0, sender/components/negotiator.py, max_rounds",
    behaviour: "Ten rounds are answered, each with text.",
    async run(probe) {
      const { id } = await opened(probe);
      for (let round = 2; round <= ROUNDS; round++) {
        const reply = await negotiate(probe, `${WISH} (${round})`, id);
        demand(reply.status === "success" && reply.text !== "", `round ${round} was answered ${show(reply.json)}`);
      }
    },
  },
  {
    key: "negotiation:closed",
    capability: "round-trip",
    source: SENDER,
    behaviour: "DELETE ends a negotiation.",
    async run(probe) {
      const { id } = await opened(probe);
      const got = await remove(probe, id);
      demand(got.status === 200, `answered ${got.status}`);
      demandRefused((await negotiate(probe, WISH, id)).got);
    },
  },
  {
    key: "negotiation:single-round",
    capability: "round-trip",
    source: RECEIVER,
    behaviour: "A negotiation of one message is answered without a conversation.",
    async run(probe) {
      const reply = await say(probe, { protocolHash: NEGOTIATION, protocolSources: null, body: WISH });
      if (reply.status !== "success" && probe.dialect === "spec") skip(`it does not negotiate: ${reply.text}`);
      demand(reply.status === "success", `answered ${show(reply.json)}`);
      demand(reply.conversationId === undefined, `conversationId is ${show(reply.conversationId)}`);
    },
  },
  {
    key: "negotiation:any-words",
    capability: "edge-cases",
    source: RECEIVER,
    behaviour: "Any text is answered: prose, broken JSON, an empty text, the tags of a final document.",
    async run(probe) {
      const { id } = await opened(probe);
      for (const prose of ["}{", '{"accept": 7}', "", "<FINALPROTOCOL>---\nname: x\n---\nx</FINALPROTOCOL>", "\u0000"]) {
        const reply = await negotiate(probe, prose, id);
        demand(reply.got.status < 500, `${show(prose)} was answered ${reply.got.status}`);
      }
      demand((await negotiate(probe, WISH, id)).status === "success", "the negotiation does not continue");
    },
  },
  {
    key: "negotiation:promises-nothing",
    capability: "security",
    source: "agora-protocol 0.2.0, receiver/core.py: the document is checked when it is used",
    behaviour: "A negotiation is not binding: an unsupported document is still rejected afterwards.",
    async run(probe) {
      const sample = await newDocument(probe);
      const { id } = await opened(probe, JSON.stringify({ offer: { hash: sample.hash, document: sample.text } }));
      await negotiate(probe, JSON.stringify({ accept: sample.hash }), id);
      const reply = await say(probe, { protocolHash: sample.hash, protocolSources: [sample.uri], body: "{}" });
      if (reply.status === "success") skip("its model serves every document");
      demand(isRejected(reply), `answered ${show(reply.json)}`);
    },
  },
  {
    key: "negotiation:does-not-accept-all",
    capability: "security",
    source: "Koine: catalogue negotiation",
    behaviour: "A catalogue without the offered document does not accept it.",
    needs: ["koine"],
    async run(probe) {
      const sample = await newDocument(probe);
      const { text } = await opened(probe, JSON.stringify({ offer: { hash: sample.hash, document: sample.text } }));
      demand(!/"accept"\s*:/.test(text), `it accepts: ${show(text)}`);
    },
  },
  {
    key: "negotiation:offers-what-is-listed",
    capability: "round-trip",
    source: "Koine: catalogue negotiation",
    behaviour: "A request in prose is answered with the hashes of the documents.",
    needs: ["koine", "listed"],
    async run(probe) {
      const { text } = await opened(probe);
      const [hash = ""] = [...probe.listed.keys()];
      demand(text.includes(hash), `it says ${show(text)}`);
    },
  },
  {
    key: "negotiation:no-switch",
    capability: "security",
    level: "should",
    source: "Koine: a conversation has one document",
    behaviour: "A negotiation cannot continue as a message to the agent.",
    async run(probe) {
      const { id } = await opened(probe);
      const url = conversationUrl(probe.subject, id);
      demandRefused(
        (await say(probe, { protocolHash: null, protocolSources: [], body: "hello", multiround: true }, { url })).got,
      );
    },
  },
];
