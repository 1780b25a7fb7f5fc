import { isObject, type JsonObject } from "../../../envelope/index.js";
import { demand, demandArray, demandObject, demandString, show } from "../../check.js";
import type { ObservedTask } from "./forms.js";
import { call, finishedTask, type Probe, resultOf, type WireRequirement } from "./probe.js";
import { JSON_BINDINGS } from "./wire.js";
import { demandError } from "./wire-errors.js";

const SOURCE = "A2A 1.0 §3.1.4";

interface Page {
  readonly tasks: readonly ObservedTask[];
  readonly next: string;
  readonly raw: JsonObject;
}

async function list(probe: Probe, params: JsonObject): Promise<Page> {
  const raw = demandObject(resultOf(await call(probe, "ListTasks", params)), "the page");
  const tasks = demandArray(raw["tasks"], "tasks").map((task) => probe.wire.form.seeTask(task));
  const next = raw["nextPageToken"];
  demand(typeof next === "string", `nextPageToken is ${show(next)}`);
  return { tasks, next, raw };
}

/** Finished tasks in a new context. */
async function someTasks(probe: Probe, count: number): Promise<{ readonly contextId: string; readonly ids: readonly string[] }> {
  const first = await finishedTask(probe);
  const contextId = demandString(first.contextId, "contextId");
  const ids = [first.id];
  while (ids.length < count) ids.push((await finishedTask(probe, { contextId })).id);
  return { contextId, ids };
}

function refused(key: string, what: string, params: JsonObject, bindings?: WireRequirement["bindings"]): WireRequirement {
  return {
    key: `list:${key}`,
    capability: "edge-cases",
    bindings,
    source: SOURCE,
    behaviour: `A list with ${what} is rejected as invalid.`,
    async run(probe) {
      const answer = await call(probe, "ListTasks", params);
      demandError(answer.error, ["INVALID_PARAMS"], answer.result);
    },
  };
}

/** ListTasks: presence, filters, order, paging, bounds. */
export const listRequirements: readonly WireRequirement[] = [
  {
    key: "list:members",
    capability: "round-trip",
    source: `${SOURCE}, §5.7`,
    behaviour: "A list has tasks, nextPageToken, pageSize and totalSize, also when nothing matches.",
    async run(probe) {
      const { raw, tasks, next } = await list(probe, { contextId: probe.subject.newId() });
      demand(tasks.length === 0, "an unused context has tasks");
      demand(next === "", `nextPageToken is ${show(next)} after the last page`);
      demand(raw["totalSize"] === 0, `totalSize is ${show(raw["totalSize"])}`);
      demand(typeof raw["pageSize"] === "number", `pageSize is ${show(raw["pageSize"])}`);
    },
  },
  {
    key: "list:finds",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "A list filtered by context finds the tasks of that context and no others.",
    async run(probe) {
      const { contextId, ids } = await someTasks(probe, 2);
      await finishedTask(probe);
      const { tasks, raw } = await list(probe, { contextId });
      demand(sameMembers(tasks, ids), `expected ${show(ids)}, got ${show(tasks.map(({ id }) => id))}`);
      demand(raw["totalSize"] === 2, `totalSize is ${show(raw["totalSize"])}`);
    },
  },
  {
    key: "list:order",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "Tasks are sorted by status time, newest first.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 3);
      const { tasks } = await list(probe, { contextId });
      const times = tasks.map(({ timestamp }) => Date.parse(String(timestamp)));
      demand(
        times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0)),
        `times are ${show(times)}`,
      );
    },
  },
  {
    key: "list:paging",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "Page tokens cover all tasks, each once, and the last page has an empty token.",
    async run(probe) {
      const { contextId, ids } = await someTasks(probe, 3);
      const found: ObservedTask[] = [];
      let pageToken = "";
      for (let page = 0; page <= ids.length; page++) {
        const { tasks, next, raw } = await list(probe, { contextId, pageSize: 1, ...(pageToken === "" ? {} : { pageToken }) });
        demand(tasks.length <= 1, `a page of one has ${tasks.length} tasks`);
        demand(raw["totalSize"] === 3, `totalSize is ${show(raw["totalSize"])} on page ${page + 1}`);
        found.push(...tasks);
        pageToken = next;
        if (next === "") break;
      }
      demand(pageToken === "", "the pages do not end");
      demand(sameMembers(found, ids), `expected ${show(ids)}, got ${show(found.map(({ id }) => id))}`);
    },
  },
  {
    key: "list:page-size",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "The response contains the page size.",
    async run(probe) {
      const { raw } = await list(probe, { pageSize: 7, contextId: probe.subject.newId() });
      demand(raw["pageSize"] === 7 || raw["pageSize"] === 0, `requested 7, pageSize is ${show(raw["pageSize"])}`);
    },
  },
  {
    key: "list:status",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "The status filter returns only tasks of that state.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const working = await list(probe, { contextId, status: "TASK_STATE_WORKING" });
      demand(working.tasks.length === 0, "a finished task was listed as working");
      const all = await list(probe, { contextId });
      const status = all.tasks[0]?.wireState;
      const same = await list(probe, { contextId, status: String(status) });
      demand(same.tasks.length === 1, `the filter ${show(status)} found ${same.tasks.length} of 1`);
    },
  },
  {
    key: "list:no-artifacts",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "Without includeArtifacts no task has an artifacts member.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const { tasks } = await list(probe, { contextId });
      demand(
        tasks.every(({ raw }) => !("artifacts" in raw)),
        "a task has an artifacts member",
      );
    },
  },
  {
    key: "list:artifacts",
    capability: "round-trip",
    level: "should",
    source: SOURCE,
    behaviour: "With includeArtifacts every task has an artifacts member, empty or not.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const { tasks } = await list(probe, { contextId, includeArtifacts: true });
      demand(tasks.length === 1 && tasks.every(({ artifacts }) => Array.isArray(artifacts)), `got ${show(tasks[0]?.raw)}`);
    },
  },
  {
    key: "list:history-zero",
    capability: "round-trip",
    source: "A2A 1.0 §3.2.4",
    behaviour: "With historyLength 0 no listed task has history.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const { tasks } = await list(probe, { contextId, historyLength: 0 });
      demand(
        tasks.every(({ history }) => history === undefined || (Array.isArray(history) && history.length === 0)),
        "a task has history",
      );
    },
  },
  {
    key: "list:since-inclusive",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "A list with statusTimestampAfter keeps a task whose status has exactly that time.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const [task] = (await list(probe, { contextId })).tasks;
      const { tasks } = await list(probe, { contextId, statusTimestampAfter: demandString(task?.timestamp, "status.timestamp") });
      demand(tasks.length === 1, "the task with exactly that time is missing");
    },
  },
  {
    key: "list:since-future",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "A list with statusTimestampAfter in the future finds nothing.",
    async run(probe) {
      const { contextId } = await someTasks(probe, 1);
      const { tasks } = await list(probe, { contextId, statusTimestampAfter: "2999-01-01T00:00:00Z" });
      demand(tasks.length === 0, `found ${tasks.length} tasks`);
    },
  },
  // Clients of gRPC write 0 where they mean no size (a2a-go 2.4.0), so it is not refused there.
  refused("page-size-zero", "a page size of 0", { pageSize: 0 }, JSON_BINDINGS),
  refused("page-size-large", "a page size of 101", { pageSize: 101 }),
  refused("page-size-negative", "a negative page size", { pageSize: -1 }),
  refused("page-token", "an unknown page token", { pageToken: "no such token" }),
  refused("status-unknown", "an undefined state", { status: "TASK_STATE_DREAMING" }, JSON_BINDINGS),
  refused("since-garbage", "an invalid time", { statusTimestampAfter: "yesterday" }, JSON_BINDINGS),
  refused("history-negative", "a negative history length", { historyLength: -1 }),
];

function sameMembers(tasks: readonly ObservedTask[], ids: readonly string[]): boolean {
  const got = tasks.map(({ id }) => id);
  return got.length === ids.length && ids.every((id) => got.includes(id)) && tasks.every(({ raw }) => isObject(raw));
}
