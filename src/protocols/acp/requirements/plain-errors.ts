import { ask } from "../../ask.js";
import { demand, demandObject, show, skip } from "../../check.js";
import { command, demandPlainError, G2, G7, type PlainRequirement, request } from "./plain-probe.js";
import { get, needsCredentials, post } from "./probe.js";

/** Failures and rejections. */
export const plainErrorRequirements: readonly PlainRequirement[] = [
  {
    key: "type:response",
    capability: "edge-cases",
    source: G7,
    behaviour: "A message of type response is rejected: there was no request.",
    async run(probe) {
      demandPlainError(await command(probe, request(probe, "hello", { type: "response" })), [400, 422]);
    },
  },
  {
    key: "type:unknown",
    capability: "edge-cases",
    source: G7,
    behaviour: "An undefined type is rejected.",
    async run(probe) {
      demandPlainError(await command(probe, request(probe, "hello", { type: "rumour" })), [400, 422]);
    },
  },
  {
    key: "failed",
    capability: "round-trip",
    commanded: true,
    source: G7,
    behaviour: "A failed task is answered as failed, with the reason.",
    async run(probe) {
      const { json } = await command(probe, request(probe, "conform: fail"));
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
    behaviour: "Internal errors of an agent are not disclosed.",
    async run(probe) {
      const { text } = await command(probe, request(probe, "conform: throw"));
      demand(!text.includes("inner secret"), `the reply is ${show(text)}`);
    },
  },
  {
    key: "error:receiver",
    capability: "connectivity",
    source: G7,
    behaviour: "An unknown receiver is not found, and the error names the message.",
    async run(probe) {
      const body = request(probe, "hello", { receiver: `none-${probe.subject.newId()}` });
      const got = await command(probe, body);
      demandPlainError(got, [404]);
      const { correlation_id: id } = demandObject(got.json, "the answer");
      demand(id === body["id"], `correlation_id is ${show(id)}`);
    },
  },
  {
    key: "error:body",
    capability: "edge-cases",
    source: G7,
    behaviour: "A body that is not a message is rejected.",
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
    behaviour: "Members of the wrong type are rejected.",
    async run(probe) {
      for (const wrong of [
        { id: 7 },
        { sender: 7 },
        { timestamp: "now" },
        { metadata: [] },
        { stream: "yes" },
        { session_id: 7 },
      ])
        demandPlainError(await command(probe, request(probe, "hello", wrong)), [400, 422]);
    },
  },
  {
    key: "error:method",
    capability: "edge-cases",
    source: "RFC 9110 §15.5.6",
    behaviour: "An unsupported method is rejected with 405.",
    async run(probe) {
      demandPlainError(await get(probe, "/acp/message"), [405]);
    },
  },
  {
    key: "auth:missing",
    capability: "security",
    source: "RFC 9110 §15.5.2",
    behaviour: "A server that needs credentials rejects messages and job queries without any.",
    async run(probe) {
      await needsCredentials(probe);
      demandPlainError(await command(probe, request(probe, "hello"), { anonymous: true }), [401, 403]);
      const url = `${probe.subject.url}/acp/status?run_id=${probe.subject.newId()}`;
      demandPlainError(await ask(probe.subject, { method: "GET", url, anonymous: true }), [401, 403]);
    },
  },
  {
    key: "auth:health-is-public",
    capability: "security",
    level: "should",
    source: G2,
    behaviour: "The health of the agent needs no credentials.",
    async run({ subject }) {
      if (Object.keys(subject.headers).length === 0) skip("no credentials were given, so the difference cannot be observed");
      const { status } = await ask(subject, { method: "GET", url: `${subject.url}/acp/status`, anonymous: true });
      demand(status === 200, `answered ${status}`);
    },
  },
];
