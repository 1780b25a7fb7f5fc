import type { RawResponse } from "../../ask.js";
import { demand, demandString, show } from "../../check.js";
import { type AgoraRequirement, further, natural, openConversation, type Probe, post, remove, say } from "./probe.js";
import { readReply } from "./reply.js";

const SERVER = "agora-protocol 0.2.0, receiver/server.py";
const SENDER = "agora-protocol 0.2.0, sender/components/transporter.py";
const SPEC = "Agora specification (specs.html, 2024), replies";
const NO_DOCUMENT = "2jmj7l5rSw0yVb/vlWAYkK/YBwk=";

/** An error that every server can produce: a document that cannot be found. */
function anError(probe: Probe): Promise<RawResponse> {
  return post(probe, { protocolHash: NO_DOCUMENT, protocolSources: [], body: "x" });
}

/** A failing task of the agent. */
async function badEnd(probe: Probe, command: string): Promise<ReturnType<typeof readReply>> {
  const reply = await say(probe, natural(command));
  demand(reply.status !== "success", `${command} was answered as a success: ${show(reply.json)}`);
  return reply;
}

/** The format of errors: never mistakable for an answer. */
export const errorRequirements: readonly AgoraRequirement[] = [
  {
    key: "error:status-error",
    capability: "round-trip",
    source: SERVER,
    behaviour: 'An error has the status "error" and a message text.',
    dialects: ["python", "demo"],
    async run(probe) {
      const { json } = readReply(await anError(probe));
      demand(json["status"] === "error", `status is ${show(json["status"])}`);
      demandString(json["message"], "message");
    },
  },
  {
    key: "error:status-failure",
    capability: "round-trip",
    source: SPEC,
    behaviour: 'An error has the status "failure" and its text in the body.',
    dialects: ["spec"],
    async run(probe) {
      const { json } = readReply(await anError(probe));
      demand(json["status"] === "failure", `status is ${show(json["status"])}`);
      demandString(json["body"], "body");
    },
  },
  {
    key: "error:json",
    capability: "round-trip",
    source: SERVER,
    behaviour: "An error is JSON by its content type.",
    async run(probe) {
      const got = await anError(probe);
      demand(/^application\/json\b/i.test(got.headers["content-type"] ?? ""), `it is ${show(got.headers["content-type"])}`);
      readReply(got);
    },
  },
  {
    key: "error:body-too",
    capability: "round-trip",
    level: "should",
    source: `${SENDER}: it reads body from every reply`,
    behaviour: "The text of an error is also in the body, for readers that use only the body.",
    async run(probe) {
      demandString(readReply(await anError(probe)).json["body"], "body");
    },
  },
  {
    key: "error:not-200",
    capability: "security",
    level: "should",
    source: `${SENDER}: it ignores status, and a routine would take the text for the answer`,
    behaviour: "An error is not answered with 200, so that the library's sender raises instead of taking it for an answer.",
    async run(probe) {
      const { status } = await anError(probe);
      demand(status >= 400 && status < 500, `answered ${status}`);
    },
  },
  {
    key: "error:no-conversation",
    capability: "round-trip",
    source: SERVER,
    behaviour: "A rejected message opens no conversation.",
    async run(probe) {
      const members = { protocolHash: NO_DOCUMENT, protocolSources: [], body: "x", multiround: true };
      const { conversationId } = await say(probe, members);
      demand(conversationId === undefined, `conversationId is ${show(conversationId)}`);
    },
  },
  {
    key: "error:in-words",
    capability: "security",
    level: "should",
    source: "CWE-209",
    behaviour: "The text of an error discloses nothing internal.",
    async run(probe) {
      const wrong = [
        { protocolHash: null, body: "x" },
        { protocolSources: [], body: "x" },
        { protocolHash: NO_DOCUMENT, protocolSources: null, body: "x" },
        { protocolHash: null, protocolSources: [] },
      ];
      for (const members of wrong) {
        const { text, status } = await say(probe, members);
        if (status === "success") continue;
        demand(text.includes(" "), `it says ${show(text)}`);
        demand(!/NoneType|KeyError|undefined|Traceback|TypeError|not iterable/.test(text), `it says ${show(text)}`);
      }
    },
  },
  {
    key: "error:conversation-not-found-status",
    capability: "round-trip",
    level: "should",
    source: "RFC 9110 §15.5.5",
    behaviour: "An unknown conversation is answered 404.",
    async run(probe) {
      const { got } = await further(probe, probe.subject.newId(), "two");
      demand(got.status === 404, `answered ${got.status}`);
    },
  },
  {
    key: "error:agent-fails",
    capability: "long-running",
    source: SPEC,
    behaviour: "A failed task is answered as an error with the agent's message.",
    needs: ["commands"],
    async run(probe) {
      const { text } = await badEnd(probe, "conform: fail");
      demand(text.includes("as commanded"), `it says ${show(text)}`);
    },
  },
  {
    key: "error:agent-rejects",
    capability: "long-running",
    source: SPEC,
    behaviour: "A rejected task is answered as an error with the agent's message.",
    needs: ["commands"],
    async run(probe) {
      const { text } = await badEnd(probe, "conform: reject");
      demand(text.includes("as commanded"), `it says ${show(text)}`);
    },
  },
  {
    key: "error:agent-throws",
    capability: "security",
    source: "CWE-209",
    behaviour: "Internal errors of an agent are not disclosed.",
    needs: ["commands"],
    async run(probe) {
      const { text, got } = await badEnd(probe, "conform: throw");
      demand(!got.text.includes("inner secret"), `it says ${show(text)}`);
    },
  },
  {
    key: "error:in-a-conversation",
    capability: "long-running",
    source: SERVER,
    behaviour: "After a failed task the conversation can still be closed.",
    needs: ["commands"],
    async run(probe) {
      const { id } = await openConversation(probe);
      const reply = await further(probe, id, "conform: fail");
      demand(reply.status !== "success", `answered ${show(reply.json)}`);
      const { status } = await remove(probe, id);
      demand(status === 200, `DELETE answered ${status}`);
    },
  },
];
