import { isObject } from "../../envelope/index.js";
import type { Prompt } from "./prompt.js";

/** SHA-256 of the whole prompt in one spelling: JSON without white space, members in the order of their names. */
export async function hashPrompt(prompt: Prompt): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(prompt, sorted));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sorted(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
