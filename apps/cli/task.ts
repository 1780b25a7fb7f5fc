import {
  AgentError,
  type EventOf,
  isTerminal,
  type JsonObject,
  type PushConfig,
  type State,
  type Task,
  textOf,
} from "../../src/index.js";
import { AnswerPrinter, linkReader } from "./answer-printer.js";
import { StreamPosition } from "./answer-stream.js";
import { secretOf } from "./credentials.js";
import { eventJson } from "./event-json.js";
import { CliError, EXIT } from "./exit.js";
import type { Output } from "./output.js";
import { checkedAddress, type PeerOptions, type PeerSession, withPeer } from "./peer.js";
import { oneLine, shellWord } from "./printable.js";
import { startProgress } from "./progress.js";

interface GetOptions extends PeerOptions {
  readonly history?: number;
  readonly save?: string;
}

interface ListOptions extends PeerOptions {
  readonly session?: string;
  readonly idempotencyKey?: string;
  readonly state?: State;
  readonly since?: number;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly all?: boolean;
}

interface SubscribeOptions extends PeerOptions {
  readonly after?: string;
  readonly save?: string;
}

/** Limit of pages for `--all`: a peer could return pages forever. */
const MAX_PAGES = 10_000;

export async function getTask(url: string, id: string, options: GetOptions): Promise<void> {
  await withPeer(url, options, async (at) => {
    const { history } = options;
    const { signal } = at.interrupt;
    const task = await at.peer.getTask(id, { signal, ...(history === undefined ? {} : { historyLength: history }) });
    await printTask(task, url, options.save, at);
  });
}

export async function cancelTask(url: string, id: string, options: PeerOptions): Promise<void> {
  await withPeer(url, options, async (at) => {
    const task = await at.peer.cancelTask(id, { signal: at.interrupt.signal });
    if (at.output.format === "json") await at.output.document(eventJson({ kind: "task", task }));
    else await at.output.text(`${task.id} ${task.status.state}\n`);
    // The agent may need time to stop the work, or its process may be gone.
    if (at.output.format === "text" && !isTerminal(task.status.state))
      at.output.say(
        `Cancellation requested; the task has not stopped yet. Check with: koine task get ${shellWord(url)} ${shellWord(id)}${at.connectFlags}`,
      );
  });
}

async function printTask(
  task: Task,
  url: string,
  save: string | undefined,
  { peer, interrupt, output, connectFlags }: PeerSession,
): Promise<void> {
  if (output.format === "text")
    output.say(output.colors.dim(`${task.status.state} since ${timeOf(task)}, session ${oneLine(task.contextId, 200)}`));
  const printer = new AnswerPrinter({
    output,
    url,
    connectFlags,
    save,
    progress: { show: () => undefined, stop: () => undefined },
    peer: linkReader({ peer, interrupt }),
  });
  await printer.answer({ kind: "task", task });
  await printer.end();
}

export async function subscribe(url: string, id: string, options: SubscribeOptions): Promise<void> {
  await withPeer(url, options, async ({ peer, output, interrupt, connectFlags }) => {
    const progress = startProgress({ stream: output.stderr });
    const reader = linkReader({ peer, interrupt });
    const printer = new AnswerPrinter({ output, url, connectFlags, save: options.save, progress, peer: reader });
    const position = new StreamPosition();
    const { after } = options;
    try {
      for await (const event of peer.subscribe(id, { signal: interrupt.signal, ...(after === undefined ? {} : { after }) })) {
        position.observe(event);
        await printer.event(event);
      }
    } catch (thrown) {
      await printer.end();
      if (position.cursor !== undefined && output.format === "text")
        output.say(
          `Resume with: koine task subscribe ${shellWord(url)} ${shellWord(id)} --after ${shellWord(position.cursor)}${connectFlags}`,
        );
      throw thrown;
    } finally {
      await printer.end();
    }
  });
}

export async function listTasks(url: string, options: ListOptions): Promise<void> {
  await withPeer(url, options, async ({ peer, output, interrupt }) => {
    const { signal } = interrupt;
    let pageToken = options.pageToken;
    for (let page = 0; page < MAX_PAGES; page++) {
      const event = await peer.listTasks({ ...queryOf(options), pageToken }, { signal });
      await printPage(event, options.all === true, output);
      if (event.nextPageToken === "" || event.nextPageToken === pageToken) return;
      pageToken = event.nextPageToken;
      if (options.all !== true) {
        if (output.format === "text") output.say(`More tasks: --page-token ${shellWord(pageToken)}, or --all`);
        return;
      }
    }
    output.say(`Stopped after ${MAX_PAGES} pages: --page-token ${shellWord(pageToken ?? "")} goes on.`);
  });
}

function queryOf({ session, idempotencyKey, state, since, pageSize }: ListOptions) {
  return { contextId: session, idempotencyKey, state, changedSince: since, pageSize };
}

async function printPage(event: EventOf<"task.list">, many: boolean, output: Output): Promise<void> {
  if (output.format === "json") return many ? output.line(eventJson(event)) : output.document(eventJson(event));
  for (const task of event.tasks) {
    const asked = oneLine(textOf(task.history.find(({ role }) => role === "user")?.content ?? []), 80);
    await output.text(
      `${oneLine(task.id, 200)}\t${task.status.state}\t${timeOf(task)}\t${oneLine(task.contextId, 200)}\t${asked}\n`,
    );
  }
}

function timeOf({ status }: Task): string {
  return Number.isFinite(status.at) ? new Date(status.at).toISOString() : "an unknown time";
}

interface SetOptions extends PeerOptions {
  readonly id?: string;
  readonly hookTokenEnv?: string;
  readonly hookBearerEnv?: string;
}

export async function listPushes(url: string, id: string, options: PeerOptions): Promise<void> {
  await withPeer(url, options, async ({ peer, output, interrupt }) => {
    const configs = await peer.pushes(id, { signal: interrupt.signal });
    if (output.format === "json") return output.document({ pushes: configs.map(pushJson) });
    for (const config of configs) await output.text(pushLine(config));
    if (configs.length === 0) output.say("No push configurations.");
  });
}

export async function setPush(url: string, id: string, webhook: string, options: SetOptions): Promise<void> {
  const token = secretOf("--hook-token-env", options.hookTokenEnv, undefined);
  const credentials = secretOf("--hook-bearer-env", options.hookBearerEnv, undefined);
  const hook = {
    url: checkedAddress(webhook),
    token,
    authentication: credentials === undefined ? undefined : { scheme: "Bearer", credentials },
    ...(options.id === undefined ? {} : { id: options.id }),
  };
  await withPeer(url, options, async ({ peer, output, interrupt }) => {
    const config = await peer.setPush(id, hook, { signal: interrupt.signal }).catch(refusedAddress);
    if (output.format === "json") return output.document(pushJson(config));
    return output.text(pushLine(config));
  });
}

export async function deletePush(url: string, id: string, webhookId: string, options: PeerOptions): Promise<void> {
  await withPeer(url, options, async ({ peer, output, interrupt }) => {
    await peer.deletePush(id, webhookId, { signal: interrupt.signal });
    if (output.format === "json") return output.document({ deleted: webhookId });
    return output.text(`${oneLine(webhookId, 200)} deleted\n`);
  });
}

/** A refused webhook address can be allowed by the agent's operator. */
function refusedAddress(thrown: unknown): never {
  if (thrown instanceof AgentError && thrown.code === "invalid_message" && thrown.facts.field === "url")
    throw new CliError(EXIT.failure, thrown.message, {
      code: thrown.code,
      hint: "The agent's operator can allow it: koine serve … --push-allow HOST",
    });
  throw thrown;
}

/** Without secrets, even if the agent returns them. */
function pushJson({ id, taskId, url, authentication, delivery }: PushConfig): JsonObject {
  return {
    id,
    task_id: taskId,
    url,
    ...(authentication === undefined ? {} : { scheme: authentication.scheme }),
    ...(delivery === undefined ? {} : { delivery: deliveryJson(delivery) }),
  };
}

function deliveryJson({ state, seq, failures, nextAt, problem }: NonNullable<PushConfig["delivery"]>): JsonObject {
  return {
    state,
    seq,
    failures,
    ...(nextAt === undefined ? {} : { next_at: new Date(nextAt).toISOString() }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Id, delivery state, last accepted entry, address and last problem. */
function pushLine({ id, url, delivery }: PushConfig): string {
  const fields = [
    oneLine(id, 200),
    delivery?.state ?? "-",
    String(delivery?.seq ?? "-"),
    oneLine(url, 500),
    problemTextOf(delivery),
  ];
  return `${fields.join("\t").trimEnd()}\n`;
}

function problemTextOf(delivery: PushConfig["delivery"]): string {
  if (delivery?.problem === undefined) return "";
  const next = delivery.nextAt === undefined ? "" : `, next try at ${new Date(delivery.nextAt).toISOString()}`;
  return `${oneLine(delivery.problem, 200)} (${delivery.failures} ${delivery.failures === 1 ? "try" : "tries"}${next})`;
}
