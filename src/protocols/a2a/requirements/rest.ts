import { demand, demandObject, show } from "../../check.js";
import {
  call,
  finishedTask,
  type Probe,
  raw,
  requestFor,
  resultOf,
  runningTask,
  sendParams,
  stream,
  type WireRequirement,
} from "./probe.js";
import { demandError } from "./wire-errors.js";

const REST = ["HTTP+JSON"] as const;
const BOTH = ["1.0", "0.3"] as const;

async function post(probe: Probe, body: string, type = "application/json"): Promise<number> {
  const request = requestFor(probe, "SendMessage", {});
  const { status } = await raw(probe, { ...request, body, headers: { ...request.headers, "content-type": type } });
  return status;
}

/** Requirements of the HTTP binding: paths, methods, bodies, media types. */
export const restRequirements: readonly WireRequirement[] = [
  {
    key: "rest:malformed",
    capability: "edge-cases",
    versions: BOTH,
    bindings: REST,
    source: "A2A 1.0 §11.6",
    behaviour: "A body that is not JSON is answered 400.",
    async run(probe) {
      const status = await post(probe, '{"message":');
      demand(status === 400, `answered ${status}`);
    },
  },
  {
    key: "rest:empty",
    capability: "edge-cases",
    versions: BOTH,
    bindings: REST,
    source: "A2A 1.0 §3.3.2",
    behaviour: "A send with an empty body is answered 400.",
    async run(probe) {
      const status = await post(probe, "");
      demand(status === 400, `answered ${status}`);
    },
  },
  {
    key: "rest:list-body",
    capability: "edge-cases",
    bindings: REST,
    source: "A2A 1.0 §3.3.2",
    behaviour: "A send whose body is a list is answered 400.",
    async run(probe) {
      const status = await post(probe, "[]");
      demand(status === 400, `answered ${status}`);
    },
  },
  {
    key: "rest:media-type",
    capability: "round-trip",
    bindings: REST,
    source: "A2A 1.0 §11.1",
    behaviour: "Both application/json and application/a2a+json are accepted.",
    async run(probe) {
      for (const type of ["application/json", "application/a2a+json", "application/json; charset=utf-8"]) {
        const status = await post(probe, JSON.stringify(sendParams(probe)), type);
        demand(status === 200, `${type} is answered ${status}`);
      }
    },
  },
  {
    key: "rest:unknown-path",
    capability: "edge-cases",
    versions: BOTH,
    bindings: REST,
    source: "RFC 9110 §15.5.5",
    behaviour: "An undefined path is answered with 404.",
    async run(probe) {
      const { status } = await raw(probe, {
        method: "GET",
        url: `${probe.at.url}/no/such/place/here`,
        headers: { "a2a-version": "1.0" },
      });
      demand(status === 404, `answered ${status}`);
    },
  },
  {
    key: "rest:wrong-verb",
    capability: "edge-cases",
    versions: BOTH,
    bindings: REST,
    source: "RFC 9110 §15.5.6",
    behaviour: "An unsupported method of a path is answered with 405 or 404.",
    async run(probe) {
      const request = requestFor(probe, "SendMessage", {});
      const { status } = await raw(probe, { ...request, method: "PUT", body: "{}" });
      demand(status === 405 || status === 404, `answered ${status}`);
    },
  },
  {
    key: "rest:cancel-without-body",
    capability: "long-running",
    level: "should",
    versions: BOTH,
    bindings: REST,
    source: "A2A 1.0 §11.3.2",
    behaviour: "A cancel needs no body.",
    async run(probe) {
      const { id } = await finishedTask(probe);
      const answer = await call(probe, "CancelTask", { id }, { body: undefined, headers: { "content-type": undefined } });
      demandError(answer.error, ["TASK_NOT_CANCELABLE"], answer.result);
    },
  },
  {
    key: "rest:encoded-id",
    capability: "edge-cases",
    versions: BOTH,
    bindings: REST,
    source: "RFC 3986 §2.1",
    behaviour: "A task's id may be percent-encoded in the path.",
    async run(probe) {
      const { id } = await finishedTask(probe);
      const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`).join("");
      const { url } = requestFor(probe, "GetTask", { id });
      const read = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id }, { url: url.replace(id, encoded) })));
      demand(read.id === id, `got ${show(read.id)}`);
    },
  },
  {
    key: "rest:query-number",
    capability: "edge-cases",
    bindings: REST,
    source: "A2A 1.0 §11.5",
    behaviour: "A query parameter that is not a number is rejected as invalid.",
    async run(probe) {
      const answer = await call(probe, "ListTasks", { pageSize: "many" });
      demandError(answer.error, ["INVALID_PARAMS"], answer.result);
    },
  },
  {
    key: "rest:delete-answer",
    capability: "long-running",
    needs: ["push", "commands"],
    bindings: REST,
    source: "A2A 1.0 §11.3.3",
    behaviour: "A delete is answered 2xx with an empty object or no body.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const { got, result } = await call(probe, "DeleteTaskPushNotificationConfig", { taskId: id, id: "none" });
      await call(probe, "CancelTask", { id });
      demand(got.status === 200 || got.status === 204, `answered ${got.status}`);
      demand(Object.keys(demandObject(result, "the body")).length === 0, `the body is ${show(got.text)}`);
    },
  },
  {
    key: "rest:subscribe-verbs",
    capability: "streaming",
    level: "should",
    needs: ["streaming", "commands"],
    bindings: REST,
    source: "A2A 1.0 §11.3.2 says POST, a2a.proto says GET",
    behaviour: "Both POST and GET open a subscription.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const opened = [
        await stream(probe, "SubscribeToTask", { id }, { method: "POST" }),
        await stream(probe, "SubscribeToTask", { id }, { method: "GET", body: undefined }),
      ];
      for (const each of opened) each.close();
      await call(probe, "CancelTask", { id });
      demand(
        opened.every(({ plain }) => plain === undefined),
        `POST ${opened[0]?.status}, GET ${opened[1]?.status}`,
      );
    },
  },
];
