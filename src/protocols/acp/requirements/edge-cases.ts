import { ask } from "../../ask.js";
import { demand, demandString, show } from "../../check.js";
import {
  cancel,
  finishedRun,
  get,
  needsCredentials,
  OPENAPI,
  type Probe,
  post,
  type RunRequirement,
  run,
  runBody,
  SDK,
} from "./probe.js";
import { demandErrorObject, demandRefusal, isAbsent } from "./shapes.js";

const PARALLEL = 50;
const DEPTH = 5_000;
const LARGE_CHARACTERS = 256 * 1024;
/** Above the expected limit of servers, but cheap to send. */
const OVERSIZED_BYTES = 20 * 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };

async function stillServes(probe: Probe): Promise<void> {
  const { status } = await post(probe, "/runs", runBody(probe, "hello"));
  demand(status === 200, `afterwards an ordinary run is answered ${status}`);
}

/** The format of rejections, and limits. */
export const edgeRequirements: readonly RunRequirement[] = [
  {
    key: "error:shape",
    capability: "edge-cases",
    source: `${OPENAPI} Error`,
    behaviour: "Every error is a JSON object with one of three codes and a message.",
    async run(probe) {
      const none = probe.subject.newId();
      for (const path of [`/agents/none-${none}`, `/runs/${none}`, `/runs/${none}/events`, `/sessions/${none}`]) {
        const got = await get(probe, path);
        demand(got.status >= 400, `GET ${path} answers ${got.status}`);
        demandErrorObject(got.json, `GET ${path}`);
      }
    },
  },
  {
    key: "error:media-type",
    capability: "edge-cases",
    source: `${SDK} server/errors.py`,
    behaviour: "An error is JSON by its content type.",
    async run(probe) {
      const type = (await get(probe, `/runs/${probe.subject.newId()}`)).headers["content-type"];
      demand(/^application\/json\b/.test(type ?? ""), `content-type is ${show(type)}`);
    },
  },
  {
    key: "error:agent-throws",
    capability: "security",
    commanded: true,
    source: "OWASP ASVS 5.0 §16.5.1",
    behaviour: "An internal error of the agent ends the run as failed, without details.",
    async run(probe) {
      const failed = await run(probe, "conform: throw");
      demand(failed["status"] === "failed" && !isAbsent(failed["error"]), `the run is ${show(failed)}`);
      demand(!JSON.stringify(failed).includes("inner secret"), `the error is ${show(failed["error"])}`);
    },
  },
  {
    key: "error:method",
    capability: "edge-cases",
    source: `${SDK} server/errors.py; RFC 9110 §15.5.6`,
    behaviour: "An unsupported method is rejected with 405.",
    async run(probe) {
      demandRefusal(await post(probe, "/runs", {}, { method: "PUT" }), [405], "server_error");
      demandRefusal(await post(probe, "/ping", {}), [405], "server_error");
    },
  },
  {
    key: "edge:content-type",
    capability: "security",
    source: `${SDK} server/app.py; WHATWG Fetch §2.2.1`,
    behaviour: "A body with another content type than JSON is rejected: a web page could send it.",
    async run(probe) {
      for (const type of ["text/plain", "text/html", "application/x-www-form-urlencoded"]) {
        const got = await post(probe, "/runs", runBody(probe, "hello"), { headers: { "content-type": type } });
        demand([400, 403, 415, 422].includes(got.status), `${type} is answered ${got.status}`);
        demandErrorObject(got.json, `the refusal of ${type}`);
      }
    },
  },
  {
    key: "edge:large",
    capability: "edge-cases",
    level: "should",
    source: "seed G.6, capability 6",
    behaviour: "A message of 256 KiB is answered, or rejected because of its size.",
    async run(probe) {
      const { status } = await post(probe, "/runs", runBody(probe, "x".repeat(LARGE_CHARACTERS)));
      demand(status === 200 || status === 413 || status === 422, `answered ${status}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:oversized",
    capability: "edge-cases",
    source: "RFC 9110 §15.5.14",
    behaviour: "A message of 20 MB is accepted or rejected, and the server stays available.",
    async run(probe) {
      // Closing the connection while the body is being sent is also a rejection.
      const got = await post(probe, "/runs", runBody(probe, "x".repeat(OVERSIZED_BYTES))).catch(() => undefined);
      demand(got === undefined || got.status < 500, `server error: ${got?.status}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:deep",
    capability: "edge-cases",
    source: "RFC 8259 §9",
    behaviour: "JSON 5,000 levels deep is accepted or rejected, never a server error, and the server stays available.",
    async run(probe) {
      const deep = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
      const body = JSON.stringify(runBody(probe, "hello", { "x-deep": "@" })).replace('"@"', deep);
      const { status } = await post(probe, "/runs", undefined, { body, headers: JSON_TYPE });
      demand(status < 500, `answered ${status}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:invalid-utf8",
    capability: "edge-cases",
    level: "should",
    source: "RFC 8259 §8.1",
    behaviour: "A body that is not UTF-8 is rejected.",
    async run(probe) {
      const body = new TextEncoder().encode(JSON.stringify(runBody(probe, "@@")));
      body.set([0xc3, 0x28], body.indexOf(0x40));
      const got = await post(probe, "/runs", undefined, { body, headers: JSON_TYPE });
      demandRefusal(got, [400, 422], "invalid_input");
    },
  },
  {
    key: "edge:proto",
    capability: "security",
    source: "OWASP ASVS 5.0 §1.5",
    behaviour: "Members named like object internals have no effect on other callers.",
    async run(probe) {
      const body = `{"__proto__":{"mode":"async"},"constructor":{"prototype":{"mode":"async"}},${JSON.stringify(runBody(probe, "hello")).slice(1)}`;
      const { status } = await post(probe, "/runs", undefined, { body, headers: JSON_TYPE });
      demand(status === 200 || status === 400 || status === 422, `answered ${status}`);
      await stillServes(probe);
    },
  },
  {
    key: "edge:parallel",
    capability: "edge-cases",
    source: "seed G.6, capability 6",
    behaviour: "50 runs at once are all answered, each with its own run.",
    async run(probe) {
      const runs = await Promise.all(Array.from({ length: PARALLEL }, () => run(probe, "hello")));
      const ids = new Set(runs.map(({ run_id: id }) => id));
      demand(ids.size === PARALLEL, `${PARALLEL} runs have ${ids.size} different ids`);
    },
  },
  {
    key: "auth:missing",
    capability: "security",
    source: "RFC 9110 §15.5.2",
    behaviour: "A server that needs credentials rejects a run without any, with an ACP error.",
    async run(probe) {
      await needsCredentials(probe);
      const got = await post(probe, "/runs", runBody(probe, "hello"), { anonymous: true });
      demandRefusal(got, [401, 403], undefined);
    },
  },
  {
    key: "auth:challenge",
    capability: "security",
    level: "should",
    source: "RFC 9110 §11.6.1",
    behaviour: "A run without credentials is answered 401 with WWW-Authenticate.",
    async run(probe) {
      await needsCredentials(probe);
      const got = await post(probe, "/runs", runBody(probe, "hello"), { anonymous: true });
      demand(got.status === 401, `answered ${got.status}`);
      demandString(got.headers["www-authenticate"], "WWW-Authenticate");
    },
  },
  {
    key: "auth:wrong",
    capability: "security",
    source: "RFC 9110 §15.5.2",
    behaviour: "A run with wrong credentials is rejected.",
    async run(probe) {
      await needsCredentials(probe);
      const headers = Object.fromEntries(Object.keys(probe.subject.headers).map((name) => [name, "Bearer wrong"]));
      demandRefusal(await post(probe, "/runs", runBody(probe, "hello"), { headers }), [401, 403], undefined);
    },
  },
  {
    key: "auth:every-address",
    capability: "security",
    source: "RFC 9110 §15.5.2",
    behaviour: "Reading, answering and cancelling a run require credentials, checked before the lookup.",
    async run(probe) {
      await needsCredentials(probe);
      const { run_id: id } = await finishedRun(probe);
      const reads = [`/runs/${id}`, `/runs/${id}/events`, `/runs/${probe.subject.newId()}`];
      for (const path of reads)
        demandRefusal(
          await ask(probe.subject, { method: "GET", url: probe.subject.url + path, anonymous: true }),
          [401, 403],
          undefined,
        );
      demandRefusal(await post(probe, `/runs/${id}/cancel`, undefined, { anonymous: true }), [401, 403], undefined);
      demandRefusal(await cancel(probe, id), [403, 409], "server_error");
    },
  },
];
