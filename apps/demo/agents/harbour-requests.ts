import { setTimeout as after } from "node:timers/promises";
import type { AgentFunction, SendOptions } from "../../../src/index.js";

type Given = Parameters<AgentFunction>;

/** Simulates work; rejects on abort. */
export async function work(ms: number, signal: AbortSignal): Promise<void> {
  await after(ms, undefined, { signal });
}

/** The ship named in a text: quoted, or a capitalized word that does not start the sentence. */
export function shipIn(text: string): string | undefined {
  return /[“"]([^“”"]{1,40})[”"]/.exec(text)?.[1] ?? /\s([A-Z][a-z]{2,20})\b/.exec(text)?.[1];
}

/** The first number before a unit. */
export function numberBefore(unit: string, text: string): number | undefined {
  const found = new RegExp(`(\\d{1,4})\\s*${unit}`, "i").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Options for calling another agent within the same trace and with the same cancellation. */
export function onBehalfOf(message: Given[0], { call, signal }: Given[1]): SendOptions {
  const traceparent = call?.parameters["traceparent"];
  return { parent: message, signal, ...(traceparent === undefined ? {} : { traceparent }) };
}
