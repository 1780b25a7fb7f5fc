import type { JsonObject } from "../../../envelope/index.js";
import { isObject } from "../../../envelope/index.js";
import { demand, demandArray, demandObject, demandString, show } from "../../check.js";
import type { OperationName } from "../operations.js";
import { anyTask, call, type Probe, resultOf, runningTask, type WireRequirement } from "./probe.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const HOOK = "https://hooks.example.com/conformance";
const GATED: readonly OperationName[] = [
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
];

function gate(operation: OperationName): WireRequirement {
  return {
    key: `push:gate:${operation}`,
    capability: "long-running",
    versions: BOTH,
    needs: ["no push"],
    source: "A2A 1.0 §3.3.4",
    behaviour: `Without the capability, ${operation} is rejected with PushNotificationNotSupported.`,
    async run(probe) {
      const params: JsonObject = {
        taskId: probe.subject.newId(),
        id: "c-1",
        ...(operation.startsWith("Create") ? { url: HOOK } : {}),
      };
      const answer = await call(probe, operation, params);
      demandError(answer.error, ["PUSH_NOTIFICATION_NOT_SUPPORTED"], answer.result);
    },
  };
}

/** A running task, if the agent understands commands: configurations may end with their task. */
async function taskId(probe: Probe): Promise<string> {
  return probe.card.commands ? (await runningTask(probe)).id : (await anyTask(probe)).id;
}

async function create(probe: Probe, task: string, id: string): Promise<JsonObject> {
  const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId: task, id, url: HOOK, token: "t-1" });
  return pushConfigIn(resultOf(answer));
}

/** The config itself: flat in 1.0, nested in 0.3. */
export function pushConfigIn(result: unknown): JsonObject {
  const outer = demandObject(result, "the config");
  return isObject(outer["pushNotificationConfig"]) ? outer["pushNotificationConfig"] : outer;
}

/** A task for push configurations, cancelled after the check. */
export async function withTask(probe: Probe, run: (task: string) => Promise<void>): Promise<void> {
  const task = await taskId(probe);
  try {
    await run(task);
  } finally {
    await call(probe, "CancelTask", { id: task }).catch(() => undefined);
  }
}

/** Push configurations: fully supported or fully rejected. */
export const pushRequirements: readonly WireRequirement[] = [
  ...GATED.map(gate),
  {
    key: "push:create",
    capability: "long-running",
    versions: BOTH,
    needs: ["push"],
    source: "A2A 1.0 §3.1.7",
    behaviour: "A created config is returned with its URL and an id.",
    run: (probe) =>
      withTask(probe, async (task) => {
        const made = await create(probe, task, "c-1");
        demand(made["url"] === HOOK, `url is ${show(made["url"])}`);
        demandString(made["id"], "id");
      }),
  },
  {
    key: "push:create-assigns-id",
    capability: "long-running",
    needs: ["push"],
    source: "A2A 1.0 §3.1.7",
    behaviour: "A config created without an id gets one.",
    run: (probe) =>
      withTask(probe, async (task) => {
        const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId: task, url: HOOK });
        demandString(pushConfigIn(resultOf(answer))["id"], "id");
      }),
  },
  {
    key: "push:get",
    capability: "long-running",
    versions: BOTH,
    needs: ["push"],
    source: "A2A 1.0 §3.1.8",
    behaviour: "A config can be read by its id.",
    run: (probe) =>
      withTask(probe, async (task) => {
        await create(probe, task, "c-1");
        const read = pushConfigIn(resultOf(await call(probe, "GetTaskPushNotificationConfig", { taskId: task, id: "c-1" })));
        demand(read["url"] === HOOK, `got ${show(read)}`);
      }),
  },
  {
    key: "push:get-unknown",
    capability: "long-running",
    needs: ["push"],
    source: "A2A 1.0 §3.1.8",
    behaviour: "A config that does not exist is TaskNotFound.",
    run: (probe) =>
      withTask(probe, async (task) => {
        const answer = await call(probe, "GetTaskPushNotificationConfig", { taskId: task, id: "no-such-config" });
        demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
      }),
  },
  {
    key: "push:list",
    capability: "long-running",
    needs: ["push"],
    source: "A2A 1.0 §3.1.9",
    behaviour: "All configs of a task are listed.",
    run: (probe) =>
      withTask(probe, async (task) => {
        await create(probe, task, "c-1");
        await create(probe, task, "c-2");
        const page = demandObject(resultOf(await call(probe, "ListTaskPushNotificationConfigs", { taskId: task })), "the list");
        const ids = demandArray(page["configs"], "configs").map((each) => pushConfigIn(each)["id"]);
        demand(ids.includes("c-1") && ids.includes("c-2"), `configs are ${show(ids)}`);
      }),
  },
  {
    key: "push:delete",
    capability: "long-running",
    needs: ["push"],
    source: "A2A 1.0 §3.1.10",
    behaviour: "A deleted config is not found, and deleting it again succeeds.",
    run: (probe) =>
      withTask(probe, async (task) => {
        await create(probe, task, "c-1");
        resultOf(await call(probe, "DeleteTaskPushNotificationConfig", { taskId: task, id: "c-1" }));
        const gone = await call(probe, "GetTaskPushNotificationConfig", { taskId: task, id: "c-1" });
        demandError(gone.error, ["TASK_NOT_FOUND"], gone.result);
        resultOf(await call(probe, "DeleteTaskPushNotificationConfig", { taskId: task, id: "c-1" }));
      }),
  },
  {
    key: "push:unknown-task",
    capability: "long-running",
    versions: BOTH,
    needs: ["push"],
    source: "A2A 1.0 §3.1.7",
    behaviour: "A config for a task that does not exist is TaskNotFound.",
    async run(probe) {
      const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId: probe.subject.newId(), id: "c", url: HOOK });
      demandError(answer.error, ["TASK_NOT_FOUND"], answer.result);
    },
  },
  {
    key: "push:no-url",
    capability: "edge-cases",
    needs: ["push"],
    source: "A2A 1.0 §3.3.2, §5.7",
    behaviour: "A config without a URL is rejected as invalid.",
    run: (probe) =>
      withTask(probe, async (task) => {
        const answer = await call(probe, "CreateTaskPushNotificationConfig", { taskId: task, id: "c-3" });
        demandError(answer.error, ["INVALID_PARAMS"], answer.result);
      }),
  },
  {
    key: "push:private-address",
    capability: "security",
    level: "should",
    needs: ["push"],
    source: "A2A 1.0 §13.2",
    behaviour: "A config with the link-local metadata address is rejected.",
    run: (probe) =>
      withTask(probe, async (task) => {
        const params = { taskId: task, id: "c-4", url: "http://169.254.169.254/latest/meta-data" };
        const answer = await call(probe, "CreateTaskPushNotificationConfig", params);
        demandError(answer.error, ["INVALID_PARAMS", "UNSUPPORTED_OPERATION"], answer.result);
      }),
  },
];
