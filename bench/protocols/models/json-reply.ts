import type { z } from "zod";

/** A reply of a model that was asked for one JSON object. Some put it into a code fence, or words around it. */
export function readJsonReply<T>(reply: string, shape: z.ZodType<T>): T | { readonly problem: string } {
  const [from, to] = [reply.indexOf("{"), reply.lastIndexOf("}")];
  if (from < 0 || to < from) return { problem: "the reply is no JSON object" };
  let value: unknown;
  try {
    value = JSON.parse(reply.slice(from, to + 1));
  } catch {
    return { problem: "the reply is no JSON object" };
  }
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  return { problem: read.error.issues.map(({ path, message }) => `${path.join(".") || "the reply"}: ${message}`).join("; ") };
}

export function isProblem(read: object): read is { readonly problem: string } {
  return "problem" in read;
}
