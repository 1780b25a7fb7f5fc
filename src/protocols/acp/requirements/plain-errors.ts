import { ask } from "../../ask.js";
import { demand, demandObject, show, skip } from "../../duty.js";
import { demandPlainError, G2, G7, type PlainDuty, request, tell } from "./plain-probe.js";
import { get, needsCredentials, post } from "./probe.js";

/** What fails, and what is refused. */
export const plainErrorDuties: readonly PlainDuty[] = [
  {
    key: "type:response",
    capability: "edge-cases",
    source: G7,
    behaviour: "A response from a caller is refused: nobody asked it anything.",
    async run(probe) {
      demandPlainError(await tell(probe, request(probe, "hello", { type: "response" })), [400, 422]);
    },
  },
  {
    key: "type:unknown",
    capability: "edge-cases",
    source: G7,
    behaviour: "A type nobody defined is refused.",
    async run(probe) {
      demandPlainError(await tell(probe, request(probe, "hello", { type: "rumour" })), [400, 422]);
    },
  },
  {
    key: "failed",
    capability: "round-trip",
    commanded: true,
    source: G7,
    behaviour: "Work that fails is answered as failed, with the reason, never as completed.",
    async run(probe) {
      const { json } = await tell(probe, request(probe, "conform: fail"));
      const reply = demandObject(json, "the reply");
      demand(reply["status"] === "failed", `status is ${show(reply["status"])}`);
      demand(JSON.stringify(reply["error"] ?? null).includes("as commanded"), `the error is ${show(reply["error"])}`);
    },
  },
  {
    key: "error:agent-throws",
    capability: "security",
    commanded: true,
    source: "OWASP ASVS 5.0 §16.5.1",
    behaviour: "What an agent throws stays inside.",
    async run(probe) {
      const { text } = await tell(probe, request(probe, "conform: throw"));
      demand(!text.includes("inner secret"), `the reply is ${show(text)}`);
    },
  },
  {
    key: "error:receiver",
    capability: "connectivity",
    source: G7,
    behaviour: "A receiver that does not live here is not found, and the refusal names the message.",
    async run(probe) {
      const body = request(probe, "hello", { receiver: `none-${probe.subject.newId()}` });
      const got = await tell(probe, body);
      demandPlainError(got, [404]);
      const { correlation_id: id } = demandObject(got.json, "the answer");
      demand(id === body["id"], `correlation_id is ${show(id)}`);
    },
  },
  {
    key: "error:body",
    capability: "edge-cases",
    source: G7,
    behaviour: "A body that is no message is refused.",
    async run(probe) {
      const headers = { "content-type": "application/json" };
      for (const body of ["{hello", "", "[]", "null", '"hello"'])
        demandPlainError(await post(probe, "/acp/message", undefined, { body, headers }), [400, 422]);
    },
  },
  {
    key: "error:fields",
    capability: "edge-cases",
    source: G7,
    behaviour: "Members of the wrong type are refused.",
    async run(probe) {
      for (const wrong of [
        { id: 7 },
        { sender: 7 },
        { timestamp: "now" },
        { metadata: [] },
        { stream: "yes" },
        { session_id: 7 },
      ])
        demandPlainError(await tell(probe, request(probe, "hello", wrong)), [400, 422]);
    },
  },
  {
    key: "error:method",
    capability: "edge-cases",
    source: "RFC 9110 §15.5.6",
    behaviour: "A method that an address does not have is refused 405.",
    async run(probe) {
      demandPlainError(await get(probe, "/acp/message"), [405]);
    },
  },
  {
    key: "auth:missing",
    capability: "security",
    source: "RFC 9110 §15.5.2",
    behaviour: "A server that needs credentials refuses a message and a look at a job without any.",
    async run(probe) {
      await needsCredentials(probe);
      demandPlainError(await tell(probe, request(probe, "hello"), { anonymous: true }), [401, 403]);
      const url = `${probe.subject.url}/acp/status?run_id=${probe.subject.newId()}`;
      demandPlainError(await ask(probe.subject, { method: "GET", url, anonymous: true }), [401, 403]);
    },
  },
  {
    key: "auth:health-is-public",
    capability: "security",
    level: "should",
    source: G2,
    behaviour: "The agent's own health needs no credentials.",
    async run({ subject }) {
      if (Object.keys(subject.headers).length === 0) skip("no credentials were given, so the difference cannot be seen");
      const { status } = await ask(subject, { method: "GET", url: `${subject.url}/acp/status`, anonymous: true });
      demand(status === 200, `answered ${status}`);
    },
  },
];
