import { isPromise, newEnvelope, systemIds } from "../../../src/envelope/index.js";
import { answerText, connect, DiscoveryCache, type Envelope } from "../../../src/index.js";
import { startCall } from "../../../src/public/protocols.js";
import { REGISTRY } from "../registry.js";
import { seal, unseal } from "../sealing.js";
import { answerLines, firstLine } from "./lines.js";

/** A caller in its own process. It keeps what it says and hears; with a key it says it sealed. */
export interface CallerFacts {
  readonly gateway: string;
  readonly pin: string;
  /** Hexadecimal. */
  readonly key?: string;
}

const { gateway, pin, key: hex }: CallerFacts = JSON.parse(await firstLine());
const key = hex === undefined ? undefined : Buffer.from(hex, "hex");
const peer = await connect(gateway, { protocols: REGISTRY, pin, discoveryCache: new DiscoveryCache(), as: "caller" });
const said: string[] = [];

async function say(text: string): Promise<string> {
  said.push(text);
  const made = newEnvelope({ src: "caller", dst: "worker", content: text, context: {} }, systemIds);
  const envelope: Envelope = key === undefined ? made : { ...made, content: [seal(text, made, key)] };
  const reply = peer.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall());
  const event = isPromise(reply) ? await reply : undefined;
  if (event?.kind !== "task") throw new Error(`no task answered, but ${event?.kind}`);
  const { message } = event.task.status;
  const answer = key === undefined || message === undefined ? answerText(event.task) : unseal(message, key);
  said.push(answer);
  return `answered ${answer.length}`;
}

answerLines({ say });
process.stdout.write("ready\n");
