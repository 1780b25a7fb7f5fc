import { z } from "zod";
import { hashOf, seqOf } from "../payload.js";
import type { AgentEvent } from "./agent-event.js";
import type { NoteSender } from "./notes.js";
import { ProgramLines } from "./program-lines.js";
import { type AgentHost, type AgentTask, type Program, sharedConfiguration } from "./tasks.js";

/** What the server program prints after each answer. */
const SERVED = z.strictObject({ text: z.string(), started: z.number(), ended: z.number() });
const LISTENING = z.strictObject({ port: z.number().int().positive(), address: z.string().optional() });

/** An agent of another implementation, in a process of its own. It prints when its handler began and ended. */
export async function openProgram(task: AgentTask, program: Program, notes: NoteSender<AgentEvent>): Promise<AgentHost> {
  const { run, origin, startMs, agents } = task;
  const [address, ...more] = agents;
  if (address === undefined || more.length > 0) throw new Error("an official implementation serves one agent per process");
  if (task.model.kind !== "null") throw new Error("official implementations are measured with the null model only");
  let listening: z.infer<typeof LISTENING> = { port: address.port };
  const open = async (port: number): Promise<ProgramLines> => {
    const lines = await ProgramLines.start(program, startMs);
    const answer = LISTENING.parse(await lines.request({ name: address.name, publicUrl: address.publicUrl, port }));
    listening = answer;
    lines.onLine((line) => {
      const { text, started, ended } = SERVED.parse(line);
      const seq = seqOf(text);
      if (seq === undefined) return;
      const stamps = { serviceStart: started - Number(origin), serviceEnd: ended - Number(origin) };
      const hash = hashOf(text);
      notes.add({ type: "service", run, seq, agent: address.name, stamps, payloadHash: hash, answerHash: hash });
    });
    return lines;
  };
  let lines = await open(address.port);
  return {
    ports: { [address.name]: listening.port },
    addresses: listening.address === undefined ? undefined : { [address.name]: listening.address },
    configuration: {
      ...sharedConfiguration(task),
      "plug-in.protocol": task.arm.protocol,
      "plug-in.implementation": "official",
    },
    async close() {
      lines.stop();
      await lines.ended;
    },
    async reopen() {
      lines = await open(listening.port);
    },
  };
}
