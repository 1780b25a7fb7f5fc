import { type AgentFunction, agent, serve } from "../../../src/index.js";
import { createIdentity } from "../../../src/public/identity.js";
import { RelayedMessage } from "../../../src/tasks/index.js";
import { REGISTRY } from "../registry.js";
import { seal, unseal } from "../sealing.js";
import { answerLines, firstLine } from "./lines.js";

/** The agent in its own process. With a key it reads and writes only sealed messages. It keeps what it was told. */
export interface AgentFacts {
  /** Hexadecimal. */
  readonly key?: string;
}

const { key: hex }: AgentFacts = JSON.parse(await firstLine());
const key = hex === undefined ? undefined : Buffer.from(hex, "hex");
const heard: string[] = [];

const handle: AgentFunction = async function* (message, task) {
  const text = key === undefined ? message.text : unseal(message, key);
  heard.push(text);
  // It becomes a task, which a gateway stores.
  yield task.working();
  if (key === undefined) return `heard: ${text}`;
  const { src, dst } = message;
  const answer = { id: crypto.randomUUID(), src: dst, dst: src };
  const { ts, intent, context, meta } = message;
  const content = [seal(`heard: ${text}`, answer, key)];
  return new RelayedMessage({ ...answer, ts, intent, role: "agent", content, context, meta }, undefined);
};

const server = await serve(agent({ name: "worker", description: "keeps what it is told", handle }), {
  protocols: REGISTRY,
  identity: createIdentity({ name: "worker", did: "key" }),
});
answerLines({ heard: async () => `heard ${heard.length}` });
process.stdout.write(`ready ${server.url}\n`);
