import { type Command, Option } from "commander";
import type { State } from "../../../src/index.js";
import { parseCount, parseMoment } from "../option-values.js";
import { addPeerOptions, lazyAction } from "./shared-options.js";

const STATES = {
  submitted: true,
  working: true,
  canceling: true,
  unknown: true,
  "input-required": true,
  "auth-required": true,
  completed: true,
  canceled: true,
  rejected: true,
  failed: true,
} as const satisfies Record<State, true>;

const EXAMPLES = `
Examples:
  koine task list http://127.0.0.1:8080 --state working
  koine task list http://127.0.0.1:8080 --idempotency-key order-17  find what a lost send has started
  koine task get http://127.0.0.1:8080 4f1c…
  koine task subscribe http://127.0.0.1:8080 4f1c… -o json        one event per line, each with its cursor
  koine task cancel http://127.0.0.1:8080 4f1c…`;

/** `koine task`: the tasks of an agent. */
export function addTask(program: Command): void {
  const task = program
    .command("task")
    .description("look at, follow and cancel the tasks of an agent")
    .addHelpText("after", EXAMPLES);
  onOne(task, "get", "print a task")
    .option("--history <count>", "with this many of its last messages", parseCount)
    .option("--save <dir>", "write files of the answer into this folder")
    .action(lazyAction(async () => (await import("../task.js")).getTask));
  onOne(task, "cancel", "ask the agent to stop working on a task").action(
    lazyAction(async () => (await import("../task.js")).cancelTask),
  );
  onOne(task, "subscribe", "follow a task until it ends or asks something")
    .option("--after <cursor>", "only what came after this event")
    .option("--save <dir>", "write files of the answer into this folder")
    .action(lazyAction(async () => (await import("../task.js")).subscribe));
  addPeerOptions(task.command("list").description("list your tasks, the newest first").argument("<url>", "where the agent is"))
    .option("--session <id>", "of this conversation")
    .option("--idempotency-key <key>", "started with this idempotency key")
    .addOption(new Option("--state <state>", "in this state").choices(Object.keys(STATES)))
    .option("--since <time>", "changed at or after this time, such as 2026-01-31T12:00:00Z", parseMoment)
    .option("--page-size <count>", "how many at a time", parseCount)
    .option("--page-token <token>", "the page after the one that named this token")
    .option("--all", "all pages; with -o json one page per line")
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../task.js")).listTasks));
  addTaskPush(task);
}

function onOne(parent: Command, name: string, description: string): Command {
  const command = parent
    .command(name)
    .description(description)
    .argument("<url>", "where the agent is")
    .argument("<id>", "the task's id");
  return addPeerOptions(command).addHelpText("after", EXAMPLES);
}

const PUSH_EXAMPLES = `
Examples:
  koine task push list http://127.0.0.1:8080 4f1c…                                  the delivery state of each webhook
  koine task push set http://127.0.0.1:8080 4f1c… https://me.example/hook
  HOOK=… koine task push set http://127.0.0.1:8080 4f1c… https://me.example/hook --hook-token-env HOOK
  koine task push delete http://127.0.0.1:8080 4f1c… hook-1

A webhook at a private address is refused unless the agent is served with that address allowed.`;

/** `koine task push`: the webhooks of a task. */
function addTaskPush(task: Command): void {
  const push = task
    .command("push")
    .description("look at, set and delete the webhooks of a task")
    .addHelpText("after", PUSH_EXAMPLES);
  onTask(push, "list", "print the webhooks of a task, and the delivery state of each").action(
    lazyAction(async () => (await import("../task.js")).listPushes),
  );
  onTask(push, "set", "notify a webhook of the events of a task from now on")
    .argument("<webhook>", "the webhook's http or https URL")
    .option("--id <id>", "its name; the same name replaces (default: the agent chooses)")
    .option("--hook-token-env <name>", "the environment variable with the token the webhook is shown")
    .option("--hook-bearer-env <name>", "the environment variable with the bearer credentials the webhook is shown")
    .action(lazyAction(async () => (await import("../task.js")).setPush));
  onTask(push, "delete", "delete a webhook")
    .argument("<webhook-id>", "its name")
    .action(lazyAction(async () => (await import("../task.js")).deletePush));
}

function onTask(parent: Command, name: string, description: string): Command {
  const command = parent
    .command(name)
    .description(description)
    .argument("<url>", "where the agent is")
    .argument("<id>", "the task's id");
  return addPeerOptions(command).addHelpText("after", PUSH_EXAMPLES);
}
