import { agent, serve } from "../../../src/index.js";
import { a2a } from "../../../src/protocols/a2a/index.js";
import { sageOver } from "../../../src/protocols/sage/index.js";
import { openIdentity } from "../../../src/public/identity.js";
import { createReplayGuard } from "../../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../../src/transport/limits.js";
import { answerLines, firstLine } from "../../watermark/processes/lines.js";

/** An agent in its own process, which makes tasks of messages and keeps what it heard. */
export interface DeskFacts {
  readonly identity: string;
  readonly rpc: string;
  readonly registry: string;
  /** The DID of the gateway that may bring messages. */
  readonly relays: string;
}

const { identity: file, ...sage }: DeskFacts = JSON.parse(await firstLine());
const heard: string[] = [];
const desk = agent({
  name: "desk",
  description: "repeats",
  async *handle(message, task) {
    heard.push(message.text);
    yield task.working();
    return `heard ${message.text}`;
  },
});
const server = await serve(desk, {
  ...{ protocols: [a2a, sageOver(a2a)], identity: await openIdentity(file), port: 0, settings: { sage } },
  // What a gateway brings is as old as its author's signature, and may be from before the start of this server.
  replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
});
answerLines({ heard: async () => `heard ${heard.length}` });
process.stdout.write(`ready ${server.url}\n`);
