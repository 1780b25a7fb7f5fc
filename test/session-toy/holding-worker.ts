import { conformanceAgent } from "../../conformance/index.js";
import type { AgentFunction } from "../../src/index.js";
import { createWorker, type Worker } from "../gateway/pairs/worker.js";

/** A worker that answers `hold …` only when it is let go, and `who` with the caller. */
export interface HoldingWorker extends Worker {
  letGo(text: string): void;
}

export function createHoldingWorker(): HoldingWorker {
  const held = new Map<string, () => void>();
  const hold = async (text: string): Promise<string> => {
    await new Promise<void>((resolve) => held.set(text, resolve));
    return `let go: ${text}`;
  };
  const answers: AgentFunction = (message, task) => {
    if (message.text === "who") return task.owner;
    return message.text.startsWith("hold") ? hold(message.text) : conformanceAgent(message, task);
  };
  return { ...createWorker(answers), letGo: (text) => held.get(text)?.() };
}
