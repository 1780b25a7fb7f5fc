import { type ClientHttp2Session, constants } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Attack } from "./attacks.js";
import { beginGrpc, connectUnasked, endOf, framed, METHODS, messageOf, openGrpc, sendGrpc, untilRead } from "./grpc-requests.js";
import { type Stage, TOKENS } from "./stage.js";

const MIB = 1024 * 1024;
/** Below the body limit of the recommended profile. */
const BODY_BYTES = 4 * MIB - 1_024;
const { alice, dave } = TOKENS;
/** `h2Streams` of the recommended profile. */
const ALLOWED = 64;
/** Of the services that every gRPC server has. */
const HELD_OPEN = [
  "/grpc.health.v1.Health/Watch",
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  METHODS.stream,
] as const;

/** More resets than a server has to accept. */
const RESET_ROUNDS = 32;
/** Longer than a refusal takes, shorter than the slow agent. */
const HELD_MS = 3_000;

const agentOf = (stage: Stage): string => stage.agents()[0] ?? "";

/** A length in protobuf. */
function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** A field with these bytes as its content. */
function field(number: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);
}

/** Empty fields of this number: two bytes each, and an object for each in a careless reader. */
const emptyFields = (number: number, bytes: number): Buffer => Buffer.alloc(bytes, Buffer.from([(number << 3) | 2, 0]));

/** `metadata` (a Struct) that nests values in lists, as deep as fits. */
function nested(levels: number): Buffer {
  let value: Uint8Array = Buffer.alloc(0);
  // Value.list_value is 6, and ListValue.values is 1.
  for (let level = 0; level < levels; level++) value = field(6, field(1, value));
  return field(4, field(1, Buffer.concat([field(1, Buffer.from("a")), field(2, value)])));
}

export const GRPC_ATTACKS: readonly Attack[] = [
  {
    name: "gRPC: messages that are too large, or say so, or unpack to it",
    expected: /^(RESOURCE_EXHAUSTED|INVALID_ARGUMENT|UNIMPLEMENTED|reset \d+|closed)$/,
    async run(stage) {
      const small = messageOf("hi", agentOf(stage));
      const bodies = [
        framed(messageOf("x".repeat(16 * MIB), agentOf(stage))),
        framed(small, 0xffff_ffff),
        framed(small, small.length + 1),
        Buffer.concat(Array.from({ length: 1_000 }, () => framed(small))),
        framed(gzipSync(Buffer.alloc(64 * MIB)), undefined, 1),
      ];
      const headers = { "grpc-encoding": "gzip" };
      return Promise.all([
        ...bodies.map((body) => sendGrpc(stage, { body, token: alice })),
        ...bodies.slice(-1).map((body) => sendGrpc(stage, { body, token: alice, headers })),
      ]);
    },
  },
  {
    name: "gRPC: many fields, and deep ones",
    expected: /^(RESOURCE_EXHAUSTED|INVALID_ARGUMENT)$/,
    async run(stage) {
      const message = messageOf("hi", agentOf(stage));
      const flat = [1, 2, 3, 4, 15].map((number) => Buffer.concat([message, emptyFields(number, BODY_BYTES - message.length)]));
      const inMessage = [1, 2, 5, 6, 7, 8].map((number) => field(2, emptyFields(number, BODY_BYTES - 16)));
      const names: string[] = [];
      for (const body of [...flat, ...inMessage, Buffer.concat([message, nested(2_000)])])
        names.push(await sendGrpc(stage, { body: framed(body), token: alice }));
      return names;
    },
  },
  {
    name: "gRPC: without credentials, or with wrong ones",
    expected: /^UNAUTHENTICATED$/,
    growthMiB: 64,
    async run(stage, full) {
      const body = framed(Buffer.alloc(BODY_BYTES));
      const large = [{ body }, { body, token: "wrong-token-0123456789" }, { body, path: METHODS.stream }];
      const session = await openGrpc(stage);
      const small = { body: framed(messageOf("hi", agentOf(stage))) };
      const names = await Promise.all(large.map((sent) => sendGrpc(stage, sent)));
      for (let round = 0; round < (full ? 40 : 8); round++)
        names.push(...(await Promise.all(Array.from({ length: ALLOWED }, () => endOf(beginGrpc(session, small))))));
      session.destroy();
      return names;
    },
  },
  {
    name: "gRPC: more streams than the server allows",
    expected: /^(reset [78]|closed)$/,
    async run(stage, full) {
      const sent = { path: METHODS.stream, body: framed(messageOf("slow", agentOf(stage))), token: dave };
      const ends = Array.from({ length: full ? 20 : 5 }, async () => {
        const session = connectUnasked(stage);
        const names = await Promise.all(Array.from({ length: 1_000 }, () => endOf(beginGrpc(session, sent))));
        session.destroy();
        return names;
      });
      return (await Promise.all(ends)).flat();
    },
  },
  {
    name: "gRPC: streams that stay open on many connections",
    expected: /^(RESOURCE_EXHAUSTED|UNAVAILABLE|held)$/,
    async run(stage, full) {
      const body = framed(messageOf("slow", agentOf(stage)));
      const sessions: ClientHttp2Session[] = [];
      const ends: Promise<string>[] = [];
      for (let connection = 0; connection < (full ? 40 : 10); connection++) {
        const session = await openGrpc(stage);
        sessions.push(session);
        for (let index = 0; index < ALLOWED; index++) {
          const path = HELD_OPEN[index % HELD_OPEN.length] ?? METHODS.stream;
          // The services of every server get no complete request; the agent gets one, and is slow.
          const sent = path === METHODS.stream ? { body } : { body: framed(Buffer.alloc(0)), unfinished: true };
          ends.push(endOf(beginGrpc(session, { path, token: dave, ...sent })));
        }
      }
      const names = await Promise.all(ends.map((end) => Promise.race([end, pause(HELD_MS, "held")])));
      for (const session of sessions) session.destroy();
      return names.some((name) => name !== "held") ? names : ["NOT LIMITED"];
    },
  },
  {
    name: "gRPC: streams that are reset at once",
    expected: /^(reset|closed)$/,
    async run(stage, full) {
      const names: string[] = [];
      const body = framed(messageOf("slow", agentOf(stage)));
      for (let connection = 0; connection < (full ? 20 : 5); connection++) {
        const session = await openGrpc(stage);
        for (let round = 0; round < RESET_ROUNDS; round++) {
          const streams = Array.from({ length: ALLOWED }, () => beginGrpc(session, { body, token: dave }));
          const ends = streams.map(endOf);
          for (const stream of streams) stream?.close(constants.NGHTTP2_CANCEL);
          await Promise.all(ends);
          names.push(...streams.map((stream) => (stream === undefined ? "closed" : "reset")));
          await untilRead(session);
        }
        session.destroy();
      }
      return names.includes("closed") ? names : ["NOT LIMITED"];
    },
  },
  {
    name: "gRPC: calls that are dropped",
    expected: /^dropped$/,
    async run(stage, full) {
      const body = framed(messageOf("slow", agentOf(stage)));
      const dropped = Array.from({ length: full ? 1_000 : 150 }, async () => {
        const session = await openGrpc(stage);
        beginGrpc(session, { body, token: dave });
        await pause(50);
        session.destroy();
        return "dropped";
      });
      return Promise.all(dropped);
    },
  },
];
