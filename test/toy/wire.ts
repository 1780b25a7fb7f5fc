import { DecodeProblem, readObject, readString } from "../../src/transport/fields.js";

/** Toy 1: `{"say": text}` in, `{"said": text}` or `{"wrong": code, "why": text}` out. One line per event on a stream. */
export interface ToyRequest {
  readonly say: string;
  readonly session: string | undefined;
  readonly trace: string | undefined;
}

export function readToyRequest(value: unknown): ToyRequest {
  const wire = readObject(value, "body");
  const text = (name: string): string | undefined => (wire[name] === undefined ? undefined : readString(wire[name], name));
  return { say: readString(wire["say"], "say"), session: text("session"), trace: text("trace") };
}

export type ToyReply = { readonly said: string } | { readonly wrong: string; readonly why: string };

export function readToyReply(value: unknown): ToyReply {
  const wire = readObject(value, "reply");
  if ("said" in wire) return { said: readString(wire["said"], "said") };
  if ("wrong" in wire) return { wrong: readString(wire["wrong"], "wrong"), why: readString(wire["why"], "why") };
  throw new DecodeProblem("reply", "says nothing");
}
