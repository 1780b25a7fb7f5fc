import type { JsonObject } from "../../../envelope/index.js";
import { demand, NotApplicable, type RequirementText, skip, toRequirement } from "../../check.js";
import type { Requirement } from "../../requirement.js";
import type { OperationName } from "../operations.js";
import { call, finishedTask, type Probe, probeOf, resultOf, send, sendParams } from "./probe.js";
import { ERROR_ROWS, type ErrorName, isError, type ObservedError } from "./wire-errors.js";
import { WIRES } from "./wires.js";

interface SameRequirement extends RequirementText {
  /** An observation through one binding, in binding-independent terms. */
  observe(probe: Probe): Promise<string>;
}

const SOURCE = "A2A 1.0 §5.1";

function sameError(key: string, what: string, operation: OperationName, params: (probe: Probe) => JsonObject): SameRequirement {
  return {
    key: `equivalence:${key}`,
    capability: "round-trip",
    source: SOURCE,
    behaviour: `Every binding gives the same error for ${what}.`,
    async observe(probe) {
      const { error } = await call(probe, operation, params(probe));
      return error === undefined ? "no error" : nameOf(error);
    },
  };
}

const REQUIREMENTS: readonly SameRequirement[] = [
  {
    key: "equivalence:send",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "The same message gives the same kind of answer in the same state through every binding.",
    async observe(probe) {
      const observed = await send(probe);
      return observed.kind === "task" ? `a task that is ${observed.task.state}` : `a ${observed.kind}`;
    },
  },
  {
    key: "equivalence:list",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "An empty list has the same members through every binding.",
    async observe(probe) {
      const page = resultOf(await call(probe, "ListTasks", { contextId: "no-such-context-anywhere" }));
      return JSON.stringify(Object.keys(Object(page)).sort());
    },
  },
  sameError("unknown-task", "an unknown task", "GetTask", ({ subject }) => ({ id: subject.newId() })),
  sameError("cancel-unknown", "a cancel of an unknown task", "CancelTask", ({ subject }) => ({ id: subject.newId() })),
  sameError("bad-page", "a page size out of range", "ListTasks", () => ({ pageSize: 1_000 })),
  sameError("bad-send", "a message without parts", "SendMessage", ({ subject }) => ({
    message: { messageId: subject.newId(), role: "ROLE_USER", parts: [] },
  })),
  sameError("send-to-unknown", "a message for an unknown task", "SendMessage", (probe) =>
    sendParams(probe, { taskId: probe.subject.newId() }),
  ),
  sameError("extended-card", "the extended card", "GetExtendedAgentCard", () => ({})),
  sameError("push", "the push configs of an unknown task", "ListTaskPushNotificationConfigs", ({ subject }) => ({
    taskId: subject.newId(),
  })),
];

const SHARED: RequirementText = {
  key: "equivalence:shared-tasks",
  capability: "round-trip",
  source: SOURCE,
  behaviour: "A task created through one binding is found through every other, in the same state.",
};

/** The same operation through every binding of the card must have the same result. */
export const equivalenceRequirements: readonly Requirement[] = [
  ...REQUIREMENTS.map((requirement) =>
    toRequirement("a2a:1.0", requirement, undefined, async (subject) => {
      const probes = await modernProbes(subject);
      const observed = await Promise.all(
        probes.map(async (probe) => ({ binding: probe.wire.binding, what: await requirement.observe(probe) })),
      );
      const words = observed.map(({ binding, what }) => `${binding}: ${what}`).join("; ");
      demand(new Set(observed.map(({ what }) => what)).size === 1, words);
    }),
  ),
  toRequirement("a2a:1.0", SHARED, undefined, async (subject) => {
    const [maker, ...readers] = await modernProbes(subject);
    if (maker === undefined) return skip("the card lists no interface");
    const task = await finishedTask(maker);
    for (const reader of readers) {
      const read = reader.wire.form.seeTask(resultOf(await call(reader, "GetTask", { id: task.id })));
      demand(read.state === task.state, `${maker.wire.binding} says ${task.state}, ${reader.wire.binding} says ${read.state}`);
    }
  }),
];

async function modernProbes(subject: Parameters<typeof probeOf>[0]): Promise<readonly Probe[]> {
  const probes: Probe[] = [];
  for (const wire of WIRES.filter(({ version }) => version === "1.0")) {
    try {
      probes.push(await probeOf(subject, wire));
    } catch (thrown) {
      if (!(thrown instanceof NotApplicable)) throw thrown;
    }
  }
  return probes.length < 2 ? skip(`the card lists ${probes.length} of the bindings compared here`) : probes;
}

/** The name of the error in any binding; generic errors by category. */
function nameOf(error: ObservedError): string {
  if (error.reason !== undefined && error.reason in ERROR_ROWS) return error.reason;
  // A2A errors first: generic errors share their HTTP statuses.
  const names = Object.keys(ERROR_ROWS) as ErrorName[]; // the keys of that table
  return (
    names
      .filter((name) => !ERROR_ROWS[name].own || error.code !== undefined)
      .find((name) => isError(error, name) && name !== "PARSE_ERROR" && name !== "INVALID_REQUEST") ??
    error.grpc ??
    `HTTP ${error.httpStatus}`
  );
}
