import { AgentError, type EventOf, type RemoteAgent, type Requirement, type SendOptions } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { AnswerPrinter, linkReader } from "./answer-printer.js";
import { foldAnswer, StreamPosition } from "./answer-stream.js";
import { attachFiles } from "./attached-file.js";
import { type ContentOptions, readContent } from "./message-content.js";
import { checkedPeer, type PeerOptions, type PeerSession, withPeer } from "./peer.js";
import { shellWord } from "./printable.js";
import { type ProgressLine, startProgress } from "./progress.js";

interface SendCommandOptions extends PeerOptions, ContentOptions {
  /** False: one whole answer. Undefined: as fits the output. */
  readonly stream?: boolean;
  readonly task?: string;
  readonly session?: string;
  readonly intent?: string;
  readonly idempotencyKey?: string;
  /** Milliseconds. */
  readonly ttl?: number;
  readonly priority?: number;
  readonly tag?: readonly string[];
  readonly minVersion?: string;
  readonly maxVersion?: string;
  readonly wait: boolean;
  readonly meta?: ReadonlyMap<string, string>;
  readonly save?: string;
  readonly require?: readonly Requirement[];
}

export async function send(url: string, text: string | undefined, options: SendCommandOptions): Promise<void> {
  // Check the address before waiting for stdin.
  checkedPeer(url);
  const items = await readContent(text, options, process.stdin);
  await withPeer(url, options, async (at) => {
    const { output, interrupt } = at;
    const progress = startProgress({ stream: output.stderr });
    const printer = new AnswerPrinter({
      output,
      url,
      connectFlags: at.connectFlags,
      save: options.save,
      progress,
      peer: linkReader(at),
    });
    const position = new StreamPosition();
    const sendOptions = sendOptionsOf(options, interrupt.signal);
    try {
      const content = await attachFiles(items, {
        peer: at.peer,
        require: options.require,
        signal: interrupt.signal,
        show: (state, detail) => progress.show(state, detail),
      });
      progress.show("waiting", "");
      if (!options.wait) await printStarted(await at.peer.start(content, sendOptions), at, printer);
      else if (options.stream === true) {
        for await (const event of at.peer.stream(content, sendOptions)) {
          position.observe(event);
          await printer.event(event);
        }
      } else await printer.answer(await answer(at, content, sendOptions, { position, progress }));
    } catch (thrown) {
      await printer.end();
      printHowToResume(url, position, options, at);
      throw thrown;
    } finally {
      await printer.end();
    }
  });
}

type Content = Awaited<ReturnType<typeof attachFiles>>;
interface Watched {
  readonly position: StreamPosition;
  readonly progress: ProgressLine;
}

/** On a terminal the answer is streamed, if the peer can, to show progress. */
async function answer({ peer, output }: PeerSession, content: Content, options: SendOptions, { position, progress }: Watched) {
  const streams = options.stream !== false && output.stderr.isTTY === true && peer.card.capabilities.streaming;
  if (!streams) return peer.send(content, options);
  const whole = await foldAnswer(peer.stream(content, options), (event) => {
    position.observe(event);
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

async function printStarted(event: EventOf<"send">, { output }: PeerSession, printer: AnswerPrinter): Promise<void> {
  if (output.format === "json" || event.kind !== "task") return printer.answer(event);
  await output.text(`${event.task.id}\n`);
}

/** After an interrupted wait the task may continue; print how to find it. */
function printHowToResume(
  url: string,
  position: StreamPosition,
  options: SendCommandOptions,
  { peer, output, connectFlags }: PeerSession,
): void {
  if (position.closed || output.format === "json") return;
  const say = (what: string, command: string): void =>
    output.say(`${what}: ${output.colors.bold(`koine task ${command}${connectFlags}`)}`);
  const at = shellWord(url);
  if (position.taskId !== undefined) {
    const id = shellWord(position.taskId);
    const after = position.cursor === undefined ? "" : ` --after ${shellWord(position.cursor)}`;
    say("The task continues. Follow it with", `subscribe ${at} ${id}${after}`);
    say("Stop it with", `cancel ${at} ${id}`);
  } else if (!listsTasks(peer)) return;
  else if (options.idempotencyKey !== undefined)
    say("Find what it started with", `list ${at} --idempotency-key ${shellWord(options.idempotencyKey)}`);
  else if (options.session !== undefined) say("Find what it started with", `list ${at} --session ${shellWord(options.session)}`);
}

/** Declared losses tell whether the protocol can list tasks. */
function listsTasks({ protocol, version }: RemoteAgent): boolean {
  const registered = protocols.find(({ id }) => id === protocol);
  const lost = registered?.losses.some((loss) => loss.version === version && loss.path === "operation.task.list") ?? false;
  return registered?.traits.tasks !== false && !lost;
}

function sendOptionsOf(options: SendCommandOptions, signal: AbortSignal): SendOptions {
  const {
    stream,
    task,
    session,
    intent,
    idempotencyKey: key,
    ttl,
    priority,
    tag: tags,
    minVersion,
    maxVersion,
    meta,
    require,
  } = options;
  return {
    signal,
    ...(task === undefined ? {} : { task }),
    ...(session === undefined ? {} : { session }),
    ...(intent === undefined ? {} : { intent }),
    ...(key === undefined ? {} : { key }),
    ...(stream === undefined ? {} : { stream }),
    ...(ttl === undefined ? {} : { ttlMs: ttl }),
    ...(priority === undefined ? {} : { priority }),
    ...(tags === undefined ? {} : { tags }),
    ...(minVersion === undefined ? {} : { minVersion }),
    ...(maxVersion === undefined ? {} : { maxVersion }),
    ...(require === undefined ? {} : { require }),
    ...(meta === undefined ? {} : { metadata: Object.fromEntries(meta) }),
  };
}
