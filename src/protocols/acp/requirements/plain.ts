import type { Json } from "../../../envelope/index.js";
import { demand, demandArray, demandObject, demandString, show, skip } from "../../check.js";
import { plainErrorRequirements } from "./plain-errors.js";
import { plainJobRequirements } from "./plain-jobs.js";
import {
  bare,
  command,
  demandPlainError,
  G2,
  G7,
  onPlain,
  type PlainRequirement,
  replyTo,
  request,
  resultText,
} from "./plain-probe.js";
import { get } from "./probe.js";

/** Members in which reference peers carry the text. */
const PLACES: readonly { readonly key: string; readonly write: (text: string) => { readonly [name: string]: Json } }[] = [
  { key: "payload-text", write: (text) => ({ payload: { text } }) },
  { key: "payload-content", write: (content) => ({ payload: { content } }) },
  { key: "payload-question", write: (question) => ({ payload: { question } }) },
  { key: "text", write: (text) => ({ text }) },
  { key: "content", write: (content) => ({ content }) },
  { key: "message", write: (content) => ({ message: { role: "user", parts: [{ content_type: "text/plain", content }] } }) },
  { key: "messages", write: (content) => ({ messages: [{ role: "user", content }] }) },
];

function isSeconds(value: unknown): boolean {
  return typeof value === "number" && value > 1_000_000_000 && value < 100_000_000_000;
}

/** One message and its reply. */
const messageRequirements: readonly PlainRequirement[] = [
  {
    key: "capabilities",
    capability: "connectivity",
    source: G2,
    behaviour: "GET /acp/capabilities names the agent, its capabilities and the protocol.",
    async run(probe) {
      const got = await get(probe, "/acp/capabilities");
      demand(got.status === 200, `answered ${got.status}`);
      const document = demandObject(got.json, "the answer");
      demandString(document["agent_id"], "agent_id");
      demandArray(document["capabilities"], "capabilities");
      demand(document["protocol"] === "ACP", `protocol is ${show(document["protocol"])}`);
      demandString(document["version"], "version");
    },
  },
  {
    key: "status",
    capability: "connectivity",
    source: G2,
    behaviour: "GET /acp/status alone reports the health of the agent, with a timestamp.",
    async run(probe) {
      const got = await get(probe, "/acp/status");
      demand(got.status === 200, `answered ${got.status}`);
      const { agent_id: agent, status, timestamp } = demandObject(got.json, "the answer");
      demandString(agent, "agent_id");
      demand(status === "healthy", `status is ${show(status)}`);
      demand(isSeconds(timestamp), `timestamp is ${show(timestamp)}, not seconds since 1970`);
    },
  },
  {
    key: "health",
    capability: "connectivity",
    level: "should",
    source: G2,
    behaviour: "GET /health is answered 200.",
    async run(probe) {
      const { status } = await get(probe, "/health");
      demand(status === 200, `answered ${status}`);
    },
  },
  {
    key: "well-known",
    capability: "connectivity",
    level: "should",
    source: G2,
    behaviour: "The well-known document names the agent and its message endpoint.",
    async run(probe) {
      const got = await get(probe, "/.well-known/agent.json");
      demand(got.status === 200, `answered ${got.status}`);
      const document = demandObject(got.json, "the document");
      if (document["signatures"] !== undefined) skip("the document is signed, so no members can be added");
      demandString(document["agent_id"], "agent_id");
      const { message } = demandObject(document["endpoints"], "endpoints");
      demand(demandString(message, "endpoints.message").endsWith("/acp/message"), `messages go to ${show(message)}`);
    },
  },
  {
    key: "message:reply",
    capability: "round-trip",
    source: G7,
    behaviour: "A request is answered by a completed response with results and a timestamp.",
    async run(probe) {
      const reply = await replyTo(probe, request(probe, "hello"));
      demandString(reply["id"], "id");
      demand(reply["type"] === "response", `type is ${show(reply["type"])}`);
      demand(reply["status"] === "completed", `status is ${show(reply["status"])}`);
      demand(isSeconds(reply["timestamp"]), `timestamp is ${show(reply["timestamp"])}, not seconds since 1970`);
      demand(demandArray(reply["results"], "results").length > 0, "there are no results");
    },
  },
  {
    key: "message:result",
    capability: "round-trip",
    commanded: true,
    source: G7,
    behaviour: "A text result has its type, its text and its time.",
    async run(probe) {
      const [first] = demandArray((await replyTo(probe, request(probe, "hello")))["results"], "results");
      const { type, content, timestamp } = demandObject(first, "results[0]");
      demand(type === "text" && content === "you said: hello", `the result is ${show(first)}`);
      demand(isSeconds(timestamp), `timestamp is ${show(timestamp)}`);
    },
  },
  {
    key: "message:correlation",
    capability: "round-trip",
    source: G7,
    behaviour: "The response carries the correlation id of the request, or its id if it has none.",
    async run(probe) {
      const correlation_id = probe.subject.newId();
      const correlated = await replyTo(probe, request(probe, "hello", { correlation_id }));
      demand(
        correlated["correlation_id"] === correlation_id,
        `sent ${correlation_id}, got ${show(correlated["correlation_id"])}`,
      );
      const body = request(probe, "hello");
      const uncorrelated = await replyTo(probe, body);
      demand(
        uncorrelated["correlation_id"] === body["id"],
        `sent ${show(body["id"])}, got ${show(uncorrelated["correlation_id"])}`,
      );
    },
  },
  {
    key: "message:ids-differ",
    capability: "round-trip",
    source: G7,
    behaviour: "A response has its own id.",
    async run(probe) {
      const body = request(probe, "hello");
      const { id } = await replyTo(probe, body);
      demand(id !== body["id"], "the response has the id of the request");
    },
  },
  {
    key: "message:sender",
    capability: "round-trip",
    source: G7,
    behaviour: "The response goes from the receiver to the sender.",
    async run(probe) {
      const { sender, receiver } = await replyTo(probe, request(probe, "hello"));
      demand(receiver === "conformance", `receiver is ${show(receiver)}`);
      demand(probe.agent === "" || sender === probe.agent, `sender is ${show(sender)}`);
    },
  },
  {
    key: "message:session",
    capability: "round-trip",
    source: G7,
    behaviour: "A session id chosen by the caller is kept, in any form.",
    async run(probe) {
      const { session_id: id } = await replyTo(probe, request(probe, "hello", { session_id: "s-1" }));
      demand(id === "s-1", `session_id is ${show(id)}`);
    },
  },
  ...PLACES.map(
    ({ key, write }): PlainRequirement => ({
      key: `content:${key}`,
      capability: "round-trip",
      commanded: true,
      source: G7,
      behaviour: `The text in ${key.replace("-", ".")} reaches the agent.`,
      async run(probe) {
        const text = resultText(await replyTo(probe, bare(probe, write("hello there"))));
        demand(text === "you said: hello there", `the result is ${show(text)}`);
      },
    }),
  ),
  {
    key: "content:none",
    capability: "edge-cases",
    source: G7,
    behaviour: "A message without content is rejected.",
    async run(probe) {
      demandPlainError(await command(probe, bare(probe, {})), [400, 422]);
    },
  },
  {
    key: "type:heartbeat",
    capability: "connectivity",
    source: G7,
    behaviour: "A heartbeat is answered with the agent's health.",
    async run(probe) {
      const reply = await replyTo(probe, bare(probe, { type: "heartbeat" }));
      demand(reply["status"] === "healthy", `status is ${show(reply["status"])}`);
    },
  },
];

/** The requirements for the seed's plain endpoints. */
export const plainRequirements = onPlain([...messageRequirements, ...plainJobRequirements, ...plainErrorRequirements]);
