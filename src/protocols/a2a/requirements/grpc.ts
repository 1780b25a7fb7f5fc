import { isObject } from "../../../envelope/index.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { begin } from "../../ask.js";
import { demand, demandString, show } from "../../check.js";
import { decodeMessage } from "../grpc/decode.js";
import { STATUS_SCHEMA } from "../grpc/schema-status.js";
import { isOver } from "./forms.js";
import { call, collect, type Probe, raw, requestFor, resultOf, sendParams, stream, type WireRequirement } from "./probe.js";
import { showError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const GRPC = ["GRPC"] as const;
const PROTOCOL = "gRPC over HTTP/2";
/** Long enough to start a task, short enough to wait for. */
const SHORT_TIMEOUT = "300m";
/** Polling for a task that another call has just started. */
const LOOKS = 200;
const STATUS_LIMITS = { jsonDepth: 8, jsonValues: 1_000 } as const;

const unknownPath = (key: string, what: string, path: (known: string) => string): WireRequirement => ({
  key: `grpc:${key}`,
  capability: "edge-cases",
  versions: BOTH,
  bindings: GRPC,
  source: `${PROTOCOL}: Responses`,
  behaviour: `A call of ${what} ends with UNIMPLEMENTED.`,
  async run(probe) {
    const request = requestFor(probe, "SendMessage", sendParams(probe));
    const got = await raw(probe, { ...request, url: path(request.url) });
    const { error } = probe.wire.read(got, undefined, "SendMessage");
    demand(error?.grpc === "UNIMPLEMENTED", `ended with ${error === undefined ? "OK" : showError(error)}`);
  },
});

/** Requirements of gRPC itself: status, paths, media types, deadlines. */
export const grpcRequirements: readonly WireRequirement[] = [
  {
    key: "grpc:answer",
    capability: "connectivity",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Responses`,
    behaviour: "A successful call is answered with 200 as application/grpc, and status 0 in the trailers.",
    async run(probe) {
      const { got } = await call(probe, "SendMessage", sendParams(probe));
      demand(got.status === 200, `answered ${got.status}`);
      demand(
        /^application\/grpc(\+proto)?\s*(;|$)/.test(got.headers["content-type"] ?? ""),
        `as ${show(got.headers["content-type"])}`,
      );
      demand(got.trailers["grpc-status"] === "0", `the trailers are ${show(got.trailers)}`);
    },
  },
  {
    key: "grpc:stream-answer",
    capability: "streaming",
    versions: BOTH,
    bindings: GRPC,
    needs: ["streaming"],
    source: `${PROTOCOL}: Responses`,
    behaviour: "A successful stream ends with status 0 in the trailers.",
    async run(probe) {
      const { trailers } = await raw(probe, requestFor(probe, "SendStreamingMessage", sendParams(probe)));
      demand(trailers["grpc-status"] === "0", `the trailers are ${show(trailers)}`);
    },
  },
  {
    key: "grpc:media-type",
    capability: "round-trip",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Requests`,
    behaviour: "The content type application/grpc+proto is accepted.",
    run: async (probe) =>
      void resultOf(
        await call(probe, "SendMessage", sendParams(probe), { headers: { "content-type": "application/grpc+proto" } }),
      ),
  },
  {
    key: "grpc:wrong-media-type",
    capability: "edge-cases",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Requests`,
    behaviour: "A call whose content type does not begin with application/grpc is rejected with an HTTP status.",
    async run(probe) {
      const request = requestFor(probe, "SendMessage", sendParams(probe));
      const { status } = await raw(probe, { ...request, headers: { ...request.headers, "content-type": "text/html" } });
      demand(status >= 400 && status < 500, `answered ${status}`);
    },
  },
  {
    key: "grpc:error-without-message",
    capability: "edge-cases",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Responses`,
    behaviour: "A failed call is answered with 200, a status and no message.",
    async run(probe) {
      const { got, error } = await call(probe, "GetTask", { id: probe.subject.newId() });
      demand(error !== undefined, "an unknown task was found");
      demand(got.status === 200, `answered ${got.status}`);
      demand(got.bytes.length === 0, `${got.bytes.length} bytes came beside the error`);
      demandString(error.message, "grpc-message");
    },
  },
  {
    key: "grpc:trailers-only",
    capability: "edge-cases",
    level: "should",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Trailers-Only`,
    behaviour: "A call that fails at once has its status in the response headers.",
    async run(probe) {
      const { got } = await call(probe, "GetTask", { id: probe.subject.newId() });
      demand(got.headers["grpc-status"] !== undefined, `the headers are ${show(got.headers)}`);
    },
  },
  {
    key: "grpc:details-agree",
    capability: "edge-cases",
    bindings: GRPC,
    source: "A2A 1.0 §10.6",
    behaviour: "The status in grpc-status-details-bin has the code of grpc-status.",
    async run(probe) {
      const { got } = await call(probe, "GetTask", { id: probe.subject.newId() });
      const statusHeaders = { ...got.headers, ...got.trailers };
      const bin = demandString(statusHeaders["grpc-status-details-bin"], "grpc-status-details-bin");
      const status = decodeMessage(STATUS_SCHEMA.Status, readBase64(bin, "grpc-status-details-bin"), STATUS_LIMITS);
      demand(
        String(status["code"]) === statusHeaders["grpc-status"],
        `${show(status["code"])} with grpc-status ${show(statusHeaders["grpc-status"])}`,
      );
    },
  },
  unknownPath("unknown-method", "an undefined procedure", (known) => known.replace(/\w+$/, "NoSuchProcedure")),
  unknownPath("unknown-service", "an undefined service", (known) => known.replace(/[\w.]+\/\w+$/, "no.such.Service/Call")),
  {
    key: "grpc:bad-timeout",
    capability: "edge-cases",
    level: "should",
    versions: BOTH,
    bindings: GRPC,
    source: `${PROTOCOL}: Timeout`,
    behaviour: "An invalid grpc-timeout is rejected.",
    async run(probe) {
      const { error } = await call(probe, "SendMessage", sendParams(probe), { headers: { "grpc-timeout": "soon" } });
      demand(error !== undefined, "it was taken");
    },
  },
  {
    key: "grpc:deadline",
    capability: "long-running",
    bindings: GRPC,
    needs: ["commands"],
    source: `${PROTOCOL}: Timeout`,
    behaviour: "A call that exceeds grpc-timeout ends with DEADLINE_EXCEEDED.",
    async run(probe) {
      const contextId = probe.subject.newId();
      const params = sendParams(probe, { text: "conform: wait", contextId });
      const { error } = await call(probe, "SendMessage", params, { headers: { "grpc-timeout": SHORT_TIMEOUT } });
      await call(probe, "CancelTask", { id: await startedIn(probe, contextId) });
      demand(error?.grpc === "DEADLINE_EXCEEDED", `ended with ${error === undefined ? "OK" : showError(error)}`);
    },
  },
  {
    key: "grpc:stream-deadline",
    capability: "streaming",
    versions: BOTH,
    bindings: GRPC,
    needs: ["streaming", "commands"],
    source: `${PROTOCOL}: Timeout, A2A 1.0 §3.5.2`,
    behaviour: "A stream that outlives grpc-timeout ends with DEADLINE_EXCEEDED, and its task continues.",
    async run(probe) {
      const headers = { "grpc-timeout": SHORT_TIMEOUT };
      const streaming = await stream(probe, "SendStreamingMessage", sendParams(probe, { text: "conform: wait" }), { headers });
      const first = await streaming.events.next();
      const id = demandString(first.value?.kind === "task" ? first.value.task.id : undefined, "the task's id");
      const end = await collect(streaming).then(
        () => "OK",
        (thrown: unknown) => String(thrown),
      );
      const { state } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id })));
      await call(probe, "CancelTask", { id });
      demand(end.includes("DEADLINE_EXCEEDED"), `the stream ended: ${end}`);
      demand(!isOver(state), `the task became ${state}`);
    },
  },
  {
    key: "grpc:given-up",
    capability: "long-running",
    bindings: GRPC,
    needs: ["commands"],
    source: "A2A 1.0 §3.5.2",
    behaviour: "Cancelling a call does not stop the task.",
    async run(probe) {
      const contextId = probe.subject.newId();
      const waiting = requestFor(probe, "SendMessage", sendParams(probe, { text: "conform: wait", contextId }));
      const { opened, close } = begin(probe.subject, waiting);
      const ended = opened.then(whatever, whatever);
      const id = await startedIn(probe, contextId);
      close();
      await ended;
      const { state } = probe.wire.form.seeTask(resultOf(await call(probe, "GetTask", { id })));
      await call(probe, "CancelTask", { id });
      demand(!isOver(state), `the task became ${state}`);
    },
  },
];

const whatever = (): undefined => undefined;

/** The task in a context, as soon as it is listed. */
async function startedIn(probe: Probe, contextId: string): Promise<string> {
  for (let look = 0; look < LOOKS; look++) {
    const page = resultOf(await call(probe, "ListTasks", { contextId }));
    const [task] = isObject(page) && Array.isArray(page["tasks"]) ? page["tasks"] : [];
    if (isObject(task)) return demandString(task["id"], "task.id");
  }
  throw new Error("the task was not listed while its send waited");
}
