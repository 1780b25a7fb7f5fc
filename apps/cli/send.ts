import type { Command } from "commander";
import { AgentError, type EventOf, type RemoteAgent, type SendOptions } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { AnswerPrinter } from "./answer-printer.js";
import { type ContentOptions, readContent } from "./message-content.js";
import { collect, collectPairs, parseJson, parseSeconds } from "./option-values.js";
import { addPeerOptions, checkedAddress, type PeerOptions, type Visit, visit } from "./peer.js";
import { shellWord } from "./printable.js";
import { type ProgressLine, startProgress } from "./progress.js";
import { foldAnswer, StreamPosition } from "./watch.js";

interface SendCommandOptions extends PeerOptions, ContentOptions {
  readonly stream?: boolean;
  readonly task?: string;
  readonly session?: string;
  readonly intent?: string;
  readonly idempotencyKey?: string;
  /** Milliseconds. */
  readonly ttl?: number;
  readonly wait: boolean;
  readonly meta?: ReadonlyMap<string, string>;
  readonly save?: string;
}

const EXAMPLES = `
Examples:
  koine send http://127.0.0.1:8080 "good morning"
  echo "a long text" | koine send http://127.0.0.1:8080 --stream
  koine send http://127.0.0.1:8080 "what is in it?" --file photo.png --save out
  koine send http://127.0.0.1:8080 --task 4f1c… "the second one"      answer a question of the agent
  koine send http://127.0.0.1:8080 "build it" --no-wait                start, and look later with koine task get
  koine send http://127.0.0.1:8080 "hello" --protocol a2a@0.3 -v       by this protocol only, and say how

Exit code 0 means that an answer came, also when it says that the task failed; -o json has its state.`;

/** `koine send`: one message to any agent, and its answer. */
export function addSend(program: Command): void {
  const command = program
    .command("send")
    .description("send a message to an agent and print its answer")
    .argument("<url>", "where the agent is")
    .argument("[text]", "what to say; `-`, or nothing and a pipe, reads it from stdin");
  addPeerOptions(command)
    .option("--stream", "print the answer as it comes; with -o json one event per line")
    .option("--task <id>", "continue this task, for example to answer its question")
    .option("--session <id>", "the conversation this belongs to")
    .option("--intent <skill>", "what is wanted: the id of one of the agent's skills")
    .option("--idempotency-key <key>", "the same key never starts the work twice")
    .option("--file <path>", "attach a file; may be given several times", collect)
    .option("--data <json>", "attach a JSON value", parseJson)
    .option("--meta <key=value>", "metadata of the message; may be given several times", collectPairs)
    .option("--ttl <seconds>", "how long the agent may work on it", parseSeconds)
    .option("--no-wait", "do not wait for the answer; print the task's id")
    .option("--save <dir>", "write files of the answer into this folder")
    .addHelpText("after", EXAMPLES)
    .action(send);
}

async function send(url: string, text: string | undefined, options: SendCommandOptions): Promise<void> {
  // A wrong address is found before stdin is waited for.
  checkedAddress(url);
  const content = await readContent(text, options, process.stdin);
  await visit(url, options, async (at) => {
    const { output, interrupt } = at;
    const progress = startProgress({ stream: output.stderr });
    const printer = new AnswerPrinter({
      output,
      url,
      manner: at.manner,
      save: options.save,
      progress,
      fetch: (part) => at.peer.fetch(part, interrupt.signal),
    });
    const place = new StreamPosition();
    const sendOptions = sendOptionsOf(options, interrupt.signal);
    try {
      if (!options.wait) await printStarted(await at.peer.start(content, sendOptions), at, printer);
      else if (options.stream === true) {
        for await (const event of at.peer.stream(content, sendOptions)) {
          place.see(event);
          await printer.event(event);
        }
      } else await printer.answer(await answer(at, content, sendOptions, { place, progress }));
    } catch (thrown) {
      await printer.end();
      sayHowToGoOn(url, place, options, at);
      throw thrown;
    } finally {
      await printer.end();
    }
  });
}

type Content = Awaited<ReturnType<typeof readContent>>;
interface Watched {
  readonly place: StreamPosition;
  readonly progress: ProgressLine;
}

/** On a terminal the answer is watched as it grows, where the peer can stream: somebody sits there and waits. */
async function answer({ peer, output }: Visit, content: Content, options: SendOptions, { place, progress }: Watched) {
  if (output.stderr.isTTY !== true || !peer.card.capabilities.streaming) return peer.send(content, options);
  const whole = await foldAnswer(peer.stream(content, options), (event) => {
    place.see(event);
    if (event.kind === "status") progress.show(event.status.state, textOfStatus(event));
    else if (event.kind === "task") progress.show(event.task.status.state, "");
  });
  // Never sent a second time: the agent may be at work.
  if (whole === undefined)
    throw new AgentError("interrupted", "the agent closed the stream without an answer", { sent: "maybe" });
  return whole;
}

function textOfStatus({ status }: Extract<EventOf<"send">, { readonly kind: "status" }>): string {
  const [first] = status.message?.content ?? [];
  return first?.kind === "text" ? first.text : "";
}

async function printStarted(event: EventOf<"send">, { output }: Visit, printer: AnswerPrinter): Promise<void> {
  if (output.format === "json" || event.kind !== "task") return printer.answer(event);
  await output.text(`${event.task.id}\n`);
}

/** A wait that ended early leaves work behind; say how to find it again. */
function sayHowToGoOn(url: string, place: StreamPosition, options: SendCommandOptions, { peer, output, manner }: Visit): void {
  if (place.closed || output.format === "json") return;
  const say = (what: string, command: string): void =>
    output.say(`${what}: ${output.colors.bold(`koine task ${command}${manner}`)}`);
  const at = shellWord(url);
  if (place.taskId !== undefined) {
    const id = shellWord(place.taskId);
    const after = place.cursor === undefined ? "" : ` --after ${shellWord(place.cursor)}`;
    say("The task goes on. Follow it with", `subscribe ${at} ${id}${after}`);
    say("Stop it with", `cancel ${at} ${id}`);
  } else if (!listsTasks(peer)) return;
  else if (options.idempotencyKey !== undefined)
    say("Find what it started with", `list ${at} --idempotency-key ${shellWord(options.idempotencyKey)}`);
  else if (options.session !== undefined) say("Find what it started with", `list ${at} --session ${shellWord(options.session)}`);
}

/** What a protocol cannot carry is declared, so nobody is sent to try it. */
function listsTasks({ protocol, version }: RemoteAgent): boolean {
  const spoken = protocols.find(({ id }) => id === protocol);
  const lost = spoken?.losses.some((loss) => loss.version === version && loss.path === "operation.task.list") ?? false;
  return spoken?.traits.tasks !== false && !lost;
}

function sendOptionsOf(options: SendCommandOptions, signal: AbortSignal): SendOptions {
  const { task, session, intent, idempotencyKey: key, ttl, meta } = options;
  return {
    signal,
    ...(task === undefined ? {} : { task }),
    ...(session === undefined ? {} : { session }),
    ...(intent === undefined ? {} : { intent }),
    ...(key === undefined ? {} : { key }),
    ...(ttl === undefined ? {} : { ttlMs: ttl }),
    ...(meta === undefined ? {} : { metadata: Object.fromEntries(meta) }),
  };
}
