import { demand, demandObject, show } from "../../check.js";
import { newDocument } from "./documents.js";
import {
  type AgoraRequirement,
  conversationUrl,
  demandRefused,
  further,
  natural,
  openConversation,
  post,
  postText,
  remove,
  say,
} from "./probe.js";

const SERVER = "agora-protocol 0.2.0, receiver/server.py";
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const TALKS = 10;

/** Conversations of several messages. */
export const conversationRequirements: readonly AgoraRequirement[] = [
  {
    key: "conversation:opened",
    capability: "round-trip",
    source: SERVER,
    behaviour: '"multiround": true opens a conversation: the reply has its id and the first answer.',
    async run(probe) {
      const { json } = await openConversation(probe);
      demand(typeof json["body"] === "string", `body is ${show(json["body"])}`);
    },
  },
  {
    key: "conversation:id",
    capability: "security",
    source: SERVER,
    behaviour: "The id is a random UUID of version 4.",
    async run(probe) {
      const ids = [(await openConversation(probe)).id, (await openConversation(probe)).id];
      for (const id of ids) demand(UUID_4.test(id), `${show(id)} is not a UUID of version 4`);
      demand(ids[0] !== ids[1], "two conversations have one id");
    },
  },
  {
    key: "conversation:continued",
    capability: "round-trip",
    source: SERVER,
    behaviour: "Further messages to /conversations/{id} are answered.",
    async run(probe) {
      const { id } = await openConversation(probe);
      for (const text of ["two", "three", "four"]) {
        const reply = await further(probe, id, text);
        demand(reply.status === "success", `${text} was answered ${show(reply.json)}`);
      }
    },
  },
  {
    key: "conversation:same-id",
    capability: "round-trip",
    source: SERVER,
    behaviour: "Further replies name no other conversation.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const { conversationId } = await further(probe, id, "two");
      demand(conversationId === undefined || conversationId === id, `it names ${show(conversationId)}`);
    },
  },
  {
    key: "conversation:body-is-enough",
    capability: "round-trip",
    source: SERVER,
    behaviour: "A further message needs only its body.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const reply = await say(probe, { body: "two" }, { url: conversationUrl(probe.subject, id) });
      demand(reply.status === "success", `answered ${show(reply.json)}`);
    },
  },
  {
    key: "conversation:question-and-answer",
    capability: "long-running",
    source: "seed G.6, capability 4",
    behaviour: "A question of the agent is the answer of its message, and the next message of the conversation answers it.",
    needs: ["commands"],
    async run(probe) {
      const question = await openConversation(probe, "conform: ask");
      demand(question.text.includes("what is the answer?"), `the question is ${show(question.text)}`);
      const answered = await further(probe, question.id, "42");
      demand(answered.text.includes("the answer was: 42"), `the answer is ${show(answered.text)}`);
    },
  },
  {
    key: "conversation:goes-on-after-an-answer",
    capability: "long-running",
    source: SERVER,
    behaviour: "A conversation continues after a task in it has ended.",
    needs: ["commands"],
    async run(probe) {
      const { id } = await openConversation(probe, "conform: task");
      const next = await further(probe, id, "hello");
      demand(next.text.includes("hello"), `answered ${show(next.json)}`);
    },
  },
  {
    key: "conversation:apart",
    capability: "security",
    source: SERVER,
    behaviour: "Conversations are isolated from each other.",
    needs: ["commands"],
    async run(probe) {
      const [one, other] = [await openConversation(probe, "conform: ask"), await openConversation(probe, "conform: ask")];
      const second = await further(probe, other.id, "second");
      const first = await further(probe, one.id, "first");
      demand(
        first.text.includes("first") && !first.text.includes("second"),
        `the first conversation received ${show(first.text)}`,
      );
      demand(second.text.includes("second"), `the second conversation received ${show(second.text)}`);
    },
  },
  {
    key: "conversation:many-at-once",
    capability: "edge-cases",
    source: "seed G.6, capability 6",
    behaviour: "Ten conversations at once are all opened, continued and closed.",
    async run(probe) {
      const open = await Promise.all(Array.from({ length: TALKS }, () => openConversation(probe)));
      demand(new Set(open.map(({ id }) => id)).size === TALKS, "some have the same id");
      const replies = await Promise.all(open.map(({ id }) => further(probe, id, "two")));
      for (const { status, json } of replies) demand(status === "success", `answered ${show(json)}`);
      for (const { status } of await Promise.all(open.map(({ id }) => remove(probe, id)))) demand(status === 200, `${status}`);
    },
  },
  {
    key: "conversation:delete",
    capability: "round-trip",
    source: SERVER,
    behaviour: 'DELETE closes a conversation and answers {"status":"success"}; it needs neither a body nor a content type.',
    async run(probe) {
      const { id } = await openConversation(probe);
      const got = await remove(probe, id);
      demand(got.status === 200, `answered ${got.status}`);
      demand(demandObject(got.json, "the reply")["status"] === "success", `answered ${show(got.json)}`);
    },
  },
  {
    key: "conversation:delete-is-idempotent",
    capability: "round-trip",
    source: SERVER,
    behaviour: "DELETE of a closed conversation succeeds.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const [first, second] = [await remove(probe, id), await remove(probe, id)];
      demand(first.status === 200 && second.status === 200, `answered ${first.status}, then ${second.status}`);
      demand(first.text === second.text, `answered ${first.text}, then ${second.text}`);
    },
  },
  {
    key: "conversation:delete-unknown",
    capability: "security",
    source: SERVER,
    behaviour: "DELETE of an unknown conversation is answered exactly as of a known one, so that ids are not disclosed.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const [known, unknown] = [await remove(probe, id), await remove(probe, probe.subject.newId())];
      demand(known.status === unknown.status && known.text === unknown.text, `${unknown.status} ${unknown.text}`);
    },
  },
  {
    key: "conversation:delete-with-a-body",
    capability: "edge-cases",
    level: "should",
    source: "RFC 9110 §9.3.5",
    behaviour: "A body that comes with DELETE is ignored.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const got = await remove(probe, id, { body: "{}", headers: { "content-type": "application/json" } });
      demand(got.status === 200, `answered ${got.status}`);
    },
  },
  {
    key: "conversation:over",
    capability: "round-trip",
    source: SERVER,
    behaviour: "A message for a closed conversation is rejected.",
    async run(probe) {
      const { id } = await openConversation(probe);
      await remove(probe, id);
      demandRefused((await further(probe, id, "two")).got);
    },
  },
  {
    key: "conversation:unknown",
    capability: "round-trip",
    source: SERVER,
    behaviour: 'A message for an unknown conversation is rejected with "Conversation not found.", the text of the library.',
    dialects: ["python"],
    async run(probe) {
      const { text } = demandRefused((await further(probe, probe.subject.newId(), "two")).got);
      demand(text === "Conversation not found.", `it says ${show(text)}`);
    },
  },
  {
    key: "conversation:odd-ids",
    capability: "edge-cases",
    source: SERVER,
    behaviour: "Ids that are not UUIDs are unknown.",
    async run(probe) {
      for (const id of ["x", "%00", "..%2f..", "__proto__", "constructor", "a".repeat(1_000), "%ff"]) {
        const got = await post(probe, natural("two"), { url: conversationUrl(probe.subject, id) });
        demand(got.status < 500, `${show(id.slice(0, 20))} answered ${got.status}`);
        demand(demandObject(got.json ?? {}, "the reply")["status"] !== "success", `${show(id.slice(0, 20))} was answered`);
      }
    },
  },
  {
    key: "conversation:no-switch",
    capability: "security",
    level: "should",
    source: "Koine: a conversation has one document",
    behaviour: "A conversation keeps its document: a message with another hash is rejected.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const { hash, uri } = await newDocument(probe);
      demandRefused((await further(probe, id, "two", { protocolHash: hash, protocolSources: [uri] })).got);
    },
  },
  {
    key: "conversation:survives-bad-input",
    capability: "edge-cases",
    level: "should",
    source: "RFC 9110 §15.5.1",
    behaviour: "An invalid message is rejected, and the conversation continues.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const url = conversationUrl(probe.subject, id);
      for (const bad of ["{}", "[]", "no JSON", '{"body":7}', ""]) demandRefused(await postText(probe, bad, { url }));
      const reply = await further(probe, id, "two");
      demand(reply.status === "success", `afterwards: ${show(reply.json)}`);
    },
  },
  {
    key: "conversation:get",
    capability: "edge-cases",
    level: "should",
    source: SERVER,
    behaviour: "GET of a conversation is rejected.",
    async run(probe) {
      const { id } = await openConversation(probe);
      const got = await remove(probe, id, { method: "GET" });
      demand(got.status === 405 || got.status === 404, `answered ${got.status}`);
    },
  },
];
