import { type EventOf, isTerminal, type Part, type State, type Task, textOf } from "../../src/index.js";
import { AnswerPrinter } from "./answer-printer.js";
import { eventJson } from "./event-json.js";
import type { Output } from "./output.js";
import { type PeerOptions, type Visit, visit } from "./peer.js";
import { oneLine, shellWord } from "./printable.js";
import { startProgress } from "./progress.js";
import { StreamPosition } from "./watch.js";

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

/** What `--all` reads before it stops: a peer could hand out pages for ever. */
const MAX_PAGES = 10_000;

export async function getTask(url: string, id: string, options: GetOptions): Promise<void> {
  await visit(url, options, async (at) => {
    const { history } = options;
    const { signal } = at.interrupt;
    const task = await at.peer.getTask(id, { signal, ...(history === undefined ? {} : { historyLength: history }) });
    await printTask(task, url, options.save, at);
  });
}

export async function cancelTask(url: string, id: string, options: PeerOptions): Promise<void> {
  await visit(url, options, async (at) => {
    const task = await at.peer.cancelTask(id, { signal: at.interrupt.signal });
    if (at.output.format === "json") await at.output.document(eventJson({ kind: "task", task }));
    else await at.output.text(`${task.id} ${task.status.state}\n`);
    // The work may take its time to stop, or its process may be gone; then the agent cancels it when it finds that out.
    if (at.output.format === "text" && !isTerminal(task.status.state))
      at.output.say(`It was asked to stop, and has not yet: koine task get ${shellWord(url)} ${shellWord(id)}${at.manner}`);
  });
}

async function printTask(
  task: Task,
  url: string,
  save: string | undefined,
  { peer, interrupt, output, manner }: Visit,
): Promise<void> {
  if (output.format === "text")
    output.say(output.colors.dim(`${task.status.state} since ${timeOf(task)}, session ${oneLine(task.contextId, 200)}`));
  const printer = new AnswerPrinter({
    output,
    url,
    manner,
    save,
    progress: { show: () => undefined, stop: () => undefined },
    fetch: (part) => peer.fetch(part, interrupt.signal),
  });
  await printer.answer({ kind: "task", task });
  await printer.end();
}

export async function subscribe(url: string, id: string, options: SubscribeOptions): Promise<void> {
  await visit(url, options, async ({ peer, output, interrupt, manner }) => {
    const progress = startProgress({ stream: output.stderr });
    const fetch = (part: Part): Promise<Part> => peer.fetch(part, interrupt.signal);
    const printer = new AnswerPrinter({ output, url, manner, save: options.save, progress, fetch });
    const place = new StreamPosition();
    const { after } = options;
    try {
      for await (const event of peer.subscribe(id, { signal: interrupt.signal, ...(after === undefined ? {} : { after }) })) {
        place.see(event);
        await printer.event(event);
      }
    } catch (thrown) {
      await printer.end();
      if (place.cursor !== undefined && output.format === "text")
        output.say(
          `Go on from here with: koine task subscribe ${shellWord(url)} ${shellWord(id)} --after ${shellWord(place.cursor)}${manner}`,
        );
      throw thrown;
    } finally {
      await printer.end();
    }
  });
}

export async function listTasks(url: string, options: ListOptions): Promise<void> {
  await visit(url, options, async ({ peer, output, interrupt }) => {
    const { signal } = interrupt;
    let pageToken = options.pageToken;
    for (let page = 0; page < MAX_PAGES; page++) {
      const event = await peer.listTasks({ ...queryOf(options), pageToken }, { signal });
      await printPage(event, options.all === true, output);
      if (event.nextPageToken === "" || event.nextPageToken === pageToken) return;
      pageToken = event.nextPageToken;
      if (options.all !== true) {
        if (output.format === "text") output.say(`There are more: --page-token ${shellWord(pageToken)}, or --all`);
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
