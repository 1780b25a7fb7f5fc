import { setTimeout as after } from "node:timers/promises";
import type { AgentFunction, SendOptions } from "../../../src/index.js";

type Given = Parameters<AgentFunction>;

/** Waits as somebody at work does, and not a moment longer once the work must stop. */
export async function work(ms: number, signal: AbortSignal): Promise<void> {
  await after(ms, undefined, { signal });
}

/** The ship somebody speaks of: what stands in quotes, else a word with a capital that does not begin the sentence. */
export function shipIn(text: string): string | undefined {
  return /[“"]([^“”"]{1,40})[”"]/.exec(text)?.[1] ?? /\s([A-Z][a-z]{2,20})\b/.exec(text)?.[1];
}

/** The first number with this unit after it. */
export function numberBefore(unit: string, text: string): number | undefined {
  const found = new RegExp(`(\\d{1,4})\\s*${unit}`, "i").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A question to a colleague: in the same trace, so that whoever looks sees what it comes from, and stopped with the work. */
export function onBehalfOf(message: Given[0], { call, signal }: Given[1]): SendOptions {
  const traceparent = call?.parameters["traceparent"];
  return { parent: message, signal, ...(traceparent === undefined ? {} : { traceparent }) };
}
