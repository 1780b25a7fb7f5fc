import type { JsonObject } from "../../../envelope/index.js";
import { ask } from "../../ask.js";
import { demand, demandArray, demandObject, demandString, show, skip } from "../../check.js";
import {
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
import { demandMessage, demandRefusal, demandUuid, isAbsent, textIn } from "./shapes.js";

async function sessionIn(probe: Probe, id: unknown, path = "/sessions"): Promise<JsonObject> {
  const got = await get(probe, `${path}/${id}`);
  demand(got.status === 200, `GET ${path}/{session_id} answers ${got.status} ${show(got.json)}`);
  return demandObject(got.json, "the session");
}

/** A session with one completed run in it. */
async function usedSession(probe: Probe): Promise<string> {
  const { status, session_id: id } = await finishedRun(probe);
  if (status !== "completed") skip(`the agent's run is ${show(status)}, and only completed runs are history`);
  return demandUuid(id, "session_id");
}

async function historyOf(probe: Probe, id: string): Promise<readonly string[]> {
  const history = demandArray((await sessionIn(probe, id))["history"], "history");
  return history.map((url) => demandString(url, "history[]"));
}

async function messageAt(probe: Probe, url: string): Promise<JsonObject> {
  const got = await ask(probe.subject, { method: "GET", url });
  demand(got.status === 200, `${url} answers ${got.status}`);
  return demandMessage(got.json);
}

/** Sessions shared by several runs. */
export const sessionRequirements: readonly RunRequirement[] = [
  {
    key: "session:kept",
    capability: "round-trip",
    source: `${OPENAPI} RunCreateRequest.session_id`,
    behaviour: "A session id chosen by the client is kept.",
    async run(probe) {
      const session_id = probe.subject.newId();
      const got = await run(probe, "hello", { session_id });
      demand(got["session_id"] === session_id, `sent ${session_id}, got ${show(got["session_id"])}`);
    },
  },
  {
    key: "session:again",
    capability: "round-trip",
    source: `${OPENAPI} RunCreateRequest.session_id`,
    behaviour: "A second run in a session is another run of the same session.",
    async run(probe) {
      const first = await finishedRun(probe);
      const second = await run(probe, "hello", { session_id: first["session_id"] ?? null });
      demand(second["session_id"] === first["session_id"], `the second run is in ${show(second["session_id"])}`);
      demand(second["run_id"] !== first["run_id"], "the second run is the first");
    },
  },
  {
    key: "session:descriptor",
    capability: "round-trip",
    source: `${OPENAPI} RunCreateRequest.session`,
    behaviour: "A run can include a session; it gets the id of that session.",
    async run(probe) {
      const session = { id: probe.subject.newId(), history: [], state: null };
      const got = await run(probe, "hello", { session });
      demand(got["session_id"] === session.id, `sent ${session.id}, got ${show(got["session_id"])}`);
    },
  },
  {
    key: "session:same-twice",
    capability: "round-trip",
    source: `${SDK} server/app.py create_run`,
    behaviour: "A session and an equal session id are accepted.",
    async run(probe) {
      const id = probe.subject.newId();
      await run(probe, "hello", { session_id: id, session: { id, history: [] } });
    },
  },
  {
    key: "session:mismatch",
    capability: "edge-cases",
    source: `${SDK} server/app.py create_run, 400`,
    behaviour: "A session and a different session id are rejected.",
    async run(probe) {
      const session = { id: probe.subject.newId(), history: [] };
      const body = runBody(probe, "hello", { session_id: probe.subject.newId(), session });
      demandRefusal(await post(probe, "/runs", body), [400, 422], "invalid_input");
    },
  },
  {
    key: "session:read",
    capability: "long-running",
    source: `${SDK} server/app.py GET /sessions/{session_id}`,
    behaviour: "A session can be read: its id, and the URLs of its messages.",
    async run(probe) {
      const id = await usedSession(probe);
      const session = await sessionIn(probe, id);
      demand(session["id"] === id, `the session is ${show(session["id"])}`);
      const { state } = session;
      demand(isAbsent(state) || typeof state === "string", `state is ${show(state)}`);
      for (const url of demandArray(session["history"], "history")) demand(URL.canParse(String(url)), `history has ${show(url)}`);
    },
  },
  {
    key: "session:read-singular",
    capability: "long-running",
    level: "should",
    source: `${OPENAPI} GET /session/{session_id}`,
    behaviour: "A session can also be read at /session, the path of the specification.",
    async run(probe) {
      const id = await usedSession(probe);
      demand((await sessionIn(probe, id, "/session"))["id"] === id, "another session came back");
    },
  },
  {
    key: "session:history",
    capability: "long-running",
    source: `${SDK} server/executor.py _record_session`,
    behaviour: "The history of a session has input and output messages, in order, each with its own URL.",
    async run(probe) {
      const session_id = probe.subject.newId();
      await run(probe, "one", { session_id });
      await run(probe, "two", { session_id });
      const urls = await historyOf(probe, session_id);
      const messages: JsonObject[] = [];
      for (const url of urls) messages.push(await messageAt(probe, url));
      demand(messages[0]?.["role"] === "user" && textIn([messages[0]]) === "one", `the history begins with ${show(messages[0])}`);
      demand(
        messages.findIndex((message) => textIn([message]) === "two") > 1,
        `the history is ${show(messages.map((message) => textIn([message])))}`,
      );
    },
  },
  {
    key: "session:history-grows",
    capability: "long-running",
    source: `${SDK} server/executor.py _record_session`,
    behaviour: "Each completed run adds to the history, and earlier messages keep their URLs.",
    async run(probe) {
      const id = await usedSession(probe);
      const before = await historyOf(probe, id);
      await finishedRun(probe, { session_id: id });
      const after = await historyOf(probe, id);
      demand(after.length > before.length, `${before.length} messages became ${after.length}`);
      demand(after.slice(0, before.length).join() === before.join(), "the addresses changed");
    },
  },
  {
    key: "session:history-brought",
    capability: "long-running",
    source: `${SDK} server/app.py create_run; client/client.py _prepare_session_for_run`,
    behaviour: "An included session keeps its earlier history before the new messages.",
    async run(probe) {
      const [id, elsewhere] = [probe.subject.newId(), "https://elsewhere.example/resources/1"];
      const done = await finishedRun(probe, { session: { id, history: [elsewhere] } });
      if (done["status"] !== "completed") skip(`the agent's run is ${show(done["status"])}, and only completed runs are history`);
      const [first, ...rest] = await historyOf(probe, id);
      demand(first === elsewhere, `the history begins with ${show(first)}`);
      demand(rest.length > 0 && !rest.includes(elsewhere), `then come ${show(rest)}`);
    },
  },
  {
    key: "session:unknown",
    capability: "long-running",
    source: `${SDK} server/app.py read_session, 404`,
    behaviour: "An unused session is not found.",
    async run(probe) {
      demandRefusal(await get(probe, `/sessions/${probe.subject.newId()}`), [404], "not_found");
    },
  },
  {
    key: "session:id-form",
    capability: "edge-cases",
    source: `${OPENAPI} SessionId`,
    behaviour: "A session id that is not a UUID is rejected, in a run and in a path.",
    async run(probe) {
      demandRefusal(await post(probe, "/runs", runBody(probe, "hello", { session_id: "no-uuid" })), [400, 422], "invalid_input");
      demandRefusal(await get(probe, "/sessions/no-uuid"), [404, 422], undefined);
    },
  },
  {
    key: "resource:unknown",
    capability: "edge-cases",
    source: `${SDK} server/app.py read_resource, 404`,
    behaviour: "An unknown resource is not found.",
    async run(probe) {
      demandRefusal(await get(probe, `/resources/${probe.subject.newId()}`), [404], "not_found");
    },
  },
  {
    key: "session:not-fetched",
    capability: "security",
    source: `${OPENAPI} Session.history`,
    behaviour: "The server does not fetch URLs that a caller names as history.",
    async run(probe) {
      const { openHook } = probe.subject;
      if (openHook === undefined) return skip("the server is not on this machine, so its requests cannot be observed");
      const hook = await openHook();
      const session = { id: probe.subject.newId(), history: [hook.url], state: hook.url };
      await run(probe, "hello", { session });
      demand(hook.deliveries.length === 0, `it fetched: ${show(hook.deliveries.map(({ method }) => method))}`);
    },
  },
  {
    key: "session:guarded",
    capability: "security",
    source: "RFC 9110 §11",
    behaviour: "If runs need credentials, sessions and their messages need them too.",
    async run(probe) {
      await needsCredentials(probe);
      const id = await usedSession(probe);
      const [url = ""] = await historyOf(probe, id);
      for (const address of [`${probe.subject.url}/sessions/${id}`, url]) {
        const { status } = await ask(probe.subject, { method: "GET", url: address, anonymous: true });
        demand(status === 401 || status === 403 || status === 404, `${address} answers ${status} to an anonymous caller`);
      }
    },
  },
];
