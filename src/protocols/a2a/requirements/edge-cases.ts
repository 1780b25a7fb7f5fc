import { ask } from "../../ask.js";
import { demand, demandString, show } from "../../check.js";
import {
  call,
  needsCredentials,
  type Probe,
  raw,
  requestFor,
  resultOf,
  send,
  sendParams,
  type WireRequirement,
} from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { blamesItself, demandError, isError, showError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const PARALLEL = 50;
const DEPTH = 5_000;
const LARGE_CHARACTERS = 256 * 1024;
/** Above the expected limit of servers, but cheap to send. */
const OVERSIZED_BYTES = 20 * 1024 * 1024;

/** Requires that the server still answers an ordinary send. */
async function stillServes(probe: Probe): Promise<void> {
  resultOf(await call(probe, "SendMessage", sendParams(probe)));
}

function withText(probe: Probe, text: string): string {
  return String(requestFor(probe, "SendMessage", sendParams(probe, { text })).body);
}

/** Limits: size, depth, number, bytes. */
export const edgeRequirements: readonly WireRequirement[] = [
  {
    key: "edge:large",
    capability: "edge-cases",
    versions: BOTH,
    level: "should",
    source: "seed G.6, capability 6",
    behaviour: "A message of 256 KiB is answered, or rejected because of its size.",
    async run(probe) {
      const { got, error } = await call(probe, "SendMessage", sendParams(probe, { text: "x".repeat(LARGE_CHARACTERS) }));
      demand(got.status < 300 || got.status === 413 || got.status === 400, `answered ${got.status}`);
      demand(error?.grpc === undefined || error.grpc === "RESOURCE_EXHAUSTED", `answered ${error?.grpc}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:oversized",
    capability: "edge-cases",
    source: "RFC 9110 §15.5.14",
    behaviour: "A message of 20 MB is accepted or rejected, and the server stays available.",
    async run(probe) {
      const request = requestFor(probe, "SendMessage", sendParams(probe, { text: "x".repeat(OVERSIZED_BYTES) }));
      // Closing the connection while the body is being sent is also a rejection.
      const got = await raw(probe, request).catch(() => undefined);
      const error = got === undefined ? undefined : probe.wire.read(got, undefined, "SendMessage").error;
      demand(error === undefined || !blamesItself(error), `server error: ${error === undefined ? "" : showError(error)}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:deep",
    capability: "edge-cases",
    bindings: JSON_BINDINGS,
    versions: BOTH,
    source: "RFC 8259 §9",
    behaviour: "JSON 5,000 levels deep is accepted or rejected, never a server error, and the server stays available.",
    async run(probe) {
      const deep = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
      const body = withText(probe, "@deep").replace('"@deep"', `"hello","metadata":{"deep":${deep}}`);
      const got = await raw(probe, { ...requestFor(probe, "SendMessage", {}), body });
      demand(got.status < 500, `answered ${got.status}`);
      const { error } = probe.wire.read(got, undefined, "SendMessage");
      demand(error?.code !== -32603, `server error: ${error === undefined ? "" : showError(error)}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:invalid-utf8",
    capability: "edge-cases",
    bindings: JSON_BINDINGS,
    level: "should",
    source: "RFC 8259 §8.1",
    behaviour: "A body that is not UTF-8 is rejected.",
    async run(probe) {
      const body = new TextEncoder().encode(withText(probe, "@@"));
      const at = body.indexOf(0x40);
      body.set([0xc3, 0x28], at);
      const got = await raw(probe, { ...requestFor(probe, "SendMessage", {}), body });
      const { error } = probe.wire.read(got, undefined, "SendMessage");
      demand(error !== undefined, "it was taken");
      demand(error.httpStatus < 500 && error.code !== -32603, `server error: ${showError(error)}`);
    },
  },
  {
    key: "edge:content-type",
    capability: "edge-cases",
    bindings: JSON_BINDINGS,
    level: "should",
    source: "A2A 1.0 §9.1, §11.1",
    behaviour: "A body with another content type than JSON is rejected.",
    async run(probe) {
      const request = requestFor(probe, "SendMessage", sendParams(probe));
      const got = await raw(probe, { ...request, headers: { ...request.headers, "content-type": "text/html" } });
      const { error } = probe.wire.read(got, undefined, "SendMessage");
      demand(error !== undefined, "it was taken");
      const refused =
        error.httpStatus === 415 || isError(error, "CONTENT_TYPE_NOT_SUPPORTED") || isError(error, "INVALID_REQUEST");
      demand(refused, showError(error));
    },
  },
  {
    key: "edge:charset",
    capability: "round-trip",
    bindings: JSON_BINDINGS,
    versions: BOTH,
    source: "RFC 9110 §8.3.1",
    behaviour: "A content type with parameters and in another letter case is accepted.",
    async run(probe) {
      const headers = { "content-type": "Application/JSON; Charset=UTF-8" };
      resultOf(await call(probe, "SendMessage", sendParams(probe), { headers }));
    },
  },
  {
    key: "edge:parallel",
    capability: "edge-cases",
    versions: BOTH,
    source: "seed G.6, capability 6",
    behaviour: "50 sends at once are all answered, each with its own answer.",
    async run(probe) {
      const observed = await Promise.all(Array.from({ length: PARALLEL }, () => send(probe)));
      const ids = observed.map((each) => demandString(each.kind === "task" ? each.task.id : each.raw["messageId"], "id"));
      demand(new Set(ids).size === PARALLEL, `${PARALLEL} sends got ${new Set(ids).size} different answers`);
    },
  },
  {
    key: "edge:repeated-message",
    capability: "edge-cases",
    source: "A2A 1.0 §3.3.1",
    behaviour: "A message sent twice with one id is answered twice; deduplication is allowed, not required.",
    async run(probe) {
      const params = sendParams(probe);
      resultOf(await call(probe, "SendMessage", params));
      resultOf(await call(probe, "SendMessage", params));
    },
  },
  {
    key: "auth:missing",
    capability: "security",
    versions: BOTH,
    source: "A2A 1.0 §7.4, §3.3.2",
    behaviour: "If the card requires credentials, a call without any is rejected.",
    async run(probe) {
      needsCredentials(probe);
      const answer = await call(probe, "SendMessage", sendParams(probe), { anonymous: true });
      demand(answer.error !== undefined, `it was answered: ${show(answer.result)}`);
      const { error } = answer;
      const isOther = blamesItself(error) || error.code === -32602 || error.grpc === "INVALID_ARGUMENT";
      demand(!isOther, `rejected for another reason: ${showError(error)}`);
    },
  },
  {
    key: "auth:challenge",
    capability: "security",
    bindings: JSON_BINDINGS,
    level: "should",
    versions: BOTH,
    source: "A2A 1.0 §3.3.2, RFC 9110 §11.6.1",
    behaviour: "A call without credentials is answered 401 with WWW-Authenticate.",
    async run(probe) {
      needsCredentials(probe);
      const { got } = await call(probe, "SendMessage", sendParams(probe), { anonymous: true });
      demand(got.status === 401, `answered ${got.status}`);
      demandString(got.headers["www-authenticate"], "WWW-Authenticate");
    },
  },
  {
    key: "auth:status",
    capability: "security",
    level: "should",
    versions: BOTH,
    bindings: ["GRPC"],
    source: "A2A 1.0 §3.3.2, §10.6",
    behaviour: "A call without credentials ends with UNAUTHENTICATED.",
    async run(probe) {
      needsCredentials(probe);
      const { error } = await call(probe, "SendMessage", sendParams(probe), { anonymous: true });
      demand(error?.grpc === "UNAUTHENTICATED", `ended with ${error === undefined ? "OK" : showError(error)}`);
    },
  },
  {
    key: "auth:wrong",
    capability: "security",
    versions: BOTH,
    source: "A2A 1.0 §7.4",
    behaviour: "A call with wrong credentials is rejected.",
    async run(probe) {
      needsCredentials(probe);
      const wrong = Object.fromEntries(Object.keys(probe.subject.headers).map((name) => [name, "Bearer wrong"]));
      const { error, result } = await call(probe, "SendMessage", sendParams(probe), { headers: wrong });
      demand(error !== undefined, `it was answered: ${show(result)}`);
    },
  },
  {
    key: "auth:card-is-public",
    capability: "security",
    level: "should",
    source: "A2A 1.0 §8.2",
    behaviour: "The public card needs no credentials, because clients learn the schemes from it.",
    async run(probe) {
      const { status } = await ask(probe.subject, { method: "GET", url: probe.subject.url + probe.card.path, anonymous: true });
      demand(status === 200, `answered ${status}`);
    },
  },
  {
    key: "auth:every-operation",
    capability: "security",
    source: "A2A 1.0 §7.4",
    behaviour: "Every operation requires credentials.",
    async run(probe) {
      needsCredentials(probe);
      for (const operation of ["GetTask", "CancelTask", "ListTasks"] as const) {
        const answer = await call(probe, operation, operation === "ListTasks" ? {} : { id: "none" }, { anonymous: true });
        demand(answer.error !== undefined, `${operation} was answered`);
        demand(!isError(answer.error, "TASK_NOT_FOUND"), `${operation} looked up the task before authentication`);
      }
      demandError((await call(probe, "GetTask", { id: "none" })).error, ["TASK_NOT_FOUND"], "a task");
    },
  },
];
