import type { Maybe } from "../../../envelope/index.js";
import type { RawResponse } from "../../ask.js";
import { demand, skip } from "../../check.js";
import { encodeMessage } from "../grpc/encode.js";
import { methodOf } from "../grpc/methods.js";
import type { Field, MessageType } from "../grpc/schema.js";
import { call, type Probe, raw, requestFor, resultOf, sendParams, type WireRequirement } from "./probe.js";
import { type ObservedError, showError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;
const GRPC = ["GRPC"] as const;
const PREFIX_BYTES = 5;
const NO_ROOM = new Uint8Array(0);
/** Role numbers: the user's, and an undefined one. Both take one byte. */
const ROLE_USER = 1;
const NO_ROLE = 99;

function sendType({ wire }: Probe): MessageType {
  return methodOf(wire.version, "SendMessage")?.request ?? skip(`${wire.version} has no SendMessage on GRPC`);
}

function fieldOf(type: MessageType, name: string): Field {
  return type.fields.find((field) => field.name === name) ?? skip(`${type.name} has no ${name}`);
}

/** A short send with a numeric role, which no encoder writes. */
function withRole(probe: Probe, role: number): Uint8Array {
  const outer = fieldOf(sendType(probe), "message");
  const type = outer.message ?? skip("a send has no message");
  const members = { messageId: probe.subject.newId(), parts: [probe.wire.form.textPart("hello")] };
  const inner = joined(encodeMessage(type, members, NO_ROOM), Uint8Array.of(fieldOf(type, "role").tag, role));
  return joined(Uint8Array.of(outer.tag, inner.length), inner);
}

/** An ordinary send without its prefix, so that a check can modify either. */
function message(probe: Probe): Uint8Array {
  return encodeMessage(sendType(probe), sendParams(probe), NO_ROOM);
}

interface Prefix {
  readonly flag?: number;
  readonly length?: number;
}

function framed(bytes: Uint8Array, { flag = 0, length = bytes.length }: Prefix = {}): Uint8Array {
  const frame = new Uint8Array(PREFIX_BYTES + bytes.length);
  frame[0] = flag;
  new DataView(frame.buffer).setUint32(1, length);
  frame.set(bytes, PREFIX_BYTES);
  return frame;
}

const joined = (...pieces: readonly Uint8Array[]): Uint8Array => Uint8Array.from(pieces.flatMap((piece) => [...piece]));

/** A send with the given bytes. */
function post(probe: Probe, body: Uint8Array, headers: { readonly [name: string]: string } = {}): Promise<RawResponse> {
  const request = requestFor(probe, "SendMessage", sendParams(probe));
  return raw(probe, { ...request, body, headers: { ...request.headers, ...headers } });
}

function errorIn(probe: Probe, got: RawResponse): Maybe<ObservedError> {
  return probe.wire.read(got, undefined, "SendMessage").error;
}

async function stillServes(probe: Probe): Promise<void> {
  resultOf(await call(probe, "SendMessage", sendParams(probe)));
}

interface BadFraming {
  readonly key: string;
  readonly what: string;
  bytes(probe: Probe): Uint8Array;
}

const BAD_FRAMINGS: readonly BadFraming[] = [
  { key: "no-message", what: "without a message", bytes: () => NO_ROOM },
  { key: "two-messages", what: "with two messages", bytes: (probe) => joined(framed(message(probe)), framed(message(probe))) },
  {
    key: "truncated",
    what: "that ends inside its message",
    bytes: (probe) => framed(message(probe), { length: message(probe).length + 7 }),
  },
  { key: "half-prefix", what: "that ends inside the prefix", bytes: () => new Uint8Array(3) },
  {
    key: "huge-length",
    what: "that announces four gigabytes",
    bytes: (probe) => framed(message(probe), { length: 0xffff_ffff }),
  },
  {
    key: "compressed-flag",
    what: "marked as compressed without an algorithm",
    bytes: (probe) => framed(message(probe), { flag: 1 }),
  },
  // Field 1 announces 127 bytes, of which two follow.
  { key: "garbage", what: "whose message is not protobuf", bytes: () => framed(Uint8Array.of(0x0a, 0x7f, 0xff, 0xff)) },
];

function badFraming({ key, what, bytes }: BadFraming): WireRequirement {
  return {
    key: `grpc:${key}`,
    capability: "edge-cases",
    versions: BOTH,
    bindings: GRPC,
    source: "gRPC over HTTP/2: Length-Prefixed-Message",
    behaviour: `A call ${what} is rejected, and the server stays available.`,
    async run(probe) {
      // Ending the stream without a response is also a rejection.
      const got = await post(probe, bytes(probe)).catch(() => undefined);
      demand(got === undefined || errorIn(probe, got) !== undefined, "it was answered");
      await stillServes(probe);
    },
  };
}

/** Framing and encoding errors that no encoder produces. */
export const grpcFramingRequirements: readonly WireRequirement[] = [
  ...BAD_FRAMINGS.map(badFraming),
  {
    key: "grpc:unknown-encoding",
    capability: "edge-cases",
    versions: BOTH,
    bindings: GRPC,
    source: "gRPC compression",
    behaviour: "A message compressed by an unsupported algorithm ends with UNIMPLEMENTED.",
    async run(probe) {
      const error = errorIn(probe, await post(probe, framed(message(probe), { flag: 1 }), { "grpc-encoding": "made-up" }));
      demand(error?.grpc === "UNIMPLEMENTED", `ended with ${error === undefined ? "OK" : showError(error)}`);
    },
  },
  {
    key: "grpc:unknown-field",
    capability: "round-trip",
    versions: BOTH,
    bindings: GRPC,
    source: "Protocol Buffers: unknown fields",
    behaviour: "Unknown fields are ignored.",
    async run(probe) {
      // Field 1000 as a string, and field 1001 as a number.
      const unknown = Uint8Array.of(0xc2, 0x3e, 0x02, 0x68, 0x69, 0xc8, 0x3e, 0x07);
      const error = errorIn(probe, await post(probe, framed(joined(message(probe), unknown))));
      demand(error === undefined, `rejected: ${error === undefined ? "" : showError(error)}`);
    },
  },
  {
    key: "grpc:unknown-enum",
    capability: "edge-cases",
    bindings: GRPC,
    source: "A2A 1.0 §3.3.2",
    behaviour: "An undefined role number is rejected as invalid.",
    async run(probe) {
      const good = errorIn(probe, await post(probe, framed(withRole(probe, ROLE_USER))));
      demand(good === undefined, `rejected with a valid role: ${good === undefined ? "" : showError(good)}`);
      const error = errorIn(probe, await post(probe, framed(withRole(probe, NO_ROLE))));
      demand(error?.grpc === "INVALID_ARGUMENT", `ended with ${error === undefined ? "OK" : showError(error)}`);
    },
  },
  {
    key: "grpc:invalid-utf8",
    capability: "edge-cases",
    level: "should",
    versions: BOTH,
    bindings: GRPC,
    source: "Protocol Buffers: string",
    behaviour: "A string that is not UTF-8 is rejected.",
    async run(probe) {
      const bytes = encodeMessage(sendType(probe), sendParams(probe, { text: "@@" }), NO_ROOM);
      bytes.set([0xc3, 0x28], bytes.lastIndexOf(0x40) - 1);
      const error = errorIn(probe, await post(probe, framed(bytes)));
      demand(error !== undefined, "it was taken");
    },
  },
];
