import { create, createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../src/index.js";
import { encodeMessage } from "../src/protocols/a2a/grpc/encode.js";
import { SCHEMA_1_0 } from "../src/protocols/a2a/grpc/schema-1.0.js";
import { bearerTokens } from "../src/public/auth.js";

/** Server reflection and health watches, asked by the client library of grpc-js. `test/interop` asks by grpcurl. */

const echo = agent({ name: "echo", description: "echoes", handle: ({ text }) => text });
const TOKEN = "a-token-of-ann-0123456789";

let server: Server;
let guarded: Server;
beforeAll(async () => {
  server = await serve(echo, { port: 0 });
  guarded = await serve(echo, { port: 0, admission: bearerTokens(new Map([["ann", TOKEN]])) });
});
afterAll(() => Promise.all([server?.close(), guarded?.close()]));

const bytes = (value: Buffer): Buffer => value;
const clientOf = ({ url }: Server): Client => new Client(new URL(url).host, credentials.createInsecure());

/** A length-delimited field of a protobuf message, below 128 bytes. */
const field = (number: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
// The numbers of ServerReflectionRequest in grpc/reflection/v1/reflection.proto.
const byFile = (name: string): Buffer => field(3, name);
const bySymbol = (name: string): Buffer => field(4, name);
const listServices = Buffer.from([0x3a, 0x00]);

class ReflectionCall {
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  readonly #received: Buffer[] = [];
  readonly ended: Promise<number>;
  #arrived: () => void = () => undefined;

  constructor(client: Client, version = "v1", metadata = new Metadata()) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    this.#call = client.makeBidiStreamRequest(path, bytes, bytes, metadata);
    this.#call.on("data", (reply: Buffer) => {
      this.#received.push(reply);
      this.#arrived();
    });
    this.ended = new Promise((resolve) => {
      this.#call.once("error", (error: ServiceError) => resolve(error.code)).once("end", () => resolve(status.OK));
    });
  }

  /** Sends one request and waits for its reply, while the stream stays open. */
  async ask(request: Buffer): Promise<Buffer> {
    this.#call.write(request);
    while (this.#received.length === 0)
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    return this.#received.shift() as Buffer; // the loop waited for it
  }

  async end(): Promise<number> {
    this.#call.end();
    return this.ended;
  }
}

interface Part {
  readonly number: number;
  readonly content: Buffer;
}

/** The length-delimited fields of a message. */
function fieldsOf(message: Buffer): readonly Part[] {
  const found: Part[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const size = varint();
    if ((tag & 7) !== 2) continue;
    found.push({ number: tag >>> 3, content: message.subarray(at, at + size) });
    at += size;
  }
  return found;
}

/** The parts of a reply below one of its fields. */
const within = (reply: Buffer, number: number): readonly Buffer[] =>
  fieldsOf(reply)
    .filter((part) => part.number === number)
    .flatMap(({ content }) => fieldsOf(content).map((inner) => inner.content));

/** A registry wants them in this order; a reply begins with the file that was asked for. */
function dependenciesFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  return [...files].sort((a, b) => a.dependency.length - b.dependency.length);
}

describe.each(["v1", "v1alpha"])("grpc.reflection.%s", (version) => {
  test("lists the services, and answers on one stream that stays open", async () => {
    const client = clientOf(server);
    const call = new ReflectionCall(client, version);
    const listed = within(await call.ask(listServices), 6).flatMap((service) =>
      fieldsOf(service).map(({ content }) => content.toString()),
    );
    expect(listed).toEqual([
      "a2a.v1.A2AService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "lf.a2a.v1.A2AService",
    ]);
    const decoded = new Map<string, FileDescriptorProto>();
    for (const name of listed) {
      for (const file of within(await call.ask(bySymbol(name)), 4)) {
        const descriptor = fromBinary(FileDescriptorProtoSchema, file);
        decoded.set(descriptor.name, descriptor);
      }
    }
    expect(await call.end()).toBe(status.OK);
    client.close();
    // Fails where a type, a number or a dependency is missing or used twice.
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: dependenciesFirst([...decoded.values()]) }));
    for (const name of listed) expect(registry.getService(name)?.methods.length).toBeGreaterThan(0);
  });

  test("errors are part of the reply, and the stream goes on", async () => {
    const client = clientOf(server);
    const call = new ReflectionCall(client, version);
    for (const request of [bySymbol("no.such.Symbol"), byFile("no/such.proto"), field(6, "lf.a2a.v1.Task")]) {
      const problem = fieldsOf(await call.ask(request)).find(({ number }) => number === 7)?.content;
      // ErrorResponse.error_code: field 1, a varint; 5 is NOT_FOUND.
      expect([...(problem?.subarray(0, 2) ?? [])]).toEqual([0x08, 5]);
    }
    expect(within(await call.ask(byFile("lf/a2a/v1/a2a.proto")), 4).length).toBeGreaterThan(0);
    expect(await call.end()).toBe(status.OK);
    client.close();
  });
});

describe("the descriptors", () => {
  test("read what the tables write", async () => {
    const client = clientOf(server);
    const call = new ReflectionCall(client);
    const files = within(await call.ask(bySymbol("lf.a2a.v1.A2AService")), 4).map((each) =>
      fromBinary(FileDescriptorProtoSchema, each),
    );
    await call.end();
    client.close();
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: dependenciesFirst(files) }));
    const type = registry.getMessage("lf.a2a.v1.SendMessageRequest");
    const sent = {
      message: {
        messageId: "m",
        role: "ROLE_USER",
        parts: [{ text: "hello" }, { data: { a: [1, null] }, metadata: { b: true } }, { raw: "aGk=", filename: "f" }],
      },
      configuration: { historyLength: 0, returnImmediately: true },
    };
    if (type === undefined) throw new Error("there is no SendMessageRequest");
    const written = encodeMessage(SCHEMA_1_0.SendMessageRequest, sent, new Uint8Array(0));
    expect(toJson(type, fromBinary(type, written), { registry })).toEqual(sent);
  });
});

describe("reflection is for callers that may call", () => {
  test("without credentials it is refused", async () => {
    const client = clientOf(guarded);
    const call = new ReflectionCall(client);
    call.ask(listServices).catch(() => undefined);
    expect(await call.ended).toBe(status.UNAUTHENTICATED);
    client.close();
  });

  test("with credentials it answers", async () => {
    const client = clientOf(guarded);
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${TOKEN}`);
    const call = new ReflectionCall(client, "v1", metadata);
    expect(within(await call.ask(listServices), 6)).toHaveLength(5);
    expect(await call.end()).toBe(status.OK);
    client.close();
  });

  test("a caller that sends too much is cut off", async () => {
    const client = clientOf(server);
    const call = new ReflectionCall(client);
    const large = "x".repeat(120);
    // 600 requests of 122 bytes and 5 more are above 64 KiB.
    for (let sent = 0; sent < 600; sent++) await Promise.race([call.ask(bySymbol(large)), call.ended]);
    expect(await call.ended).toBe(status.RESOURCE_EXHAUSTED);
    client.close();
  });
});

describe("health watches", () => {
  const WATCH = "/grpc.health.v1.Health/Watch";

  function watch(client: Client, request: Buffer) {
    const seen: string[] = [];
    const call = client.makeServerStreamRequest(WATCH, bytes, bytes, request);
    const first = new Promise<void>((resolve) => {
      call.on("data", (reply: Buffer) => {
        seen.push(reply.toString("hex"));
        resolve();
      });
    });
    const ended = new Promise<number>((resolve) => {
      call.once("error", (error: ServiceError) => resolve(error.code)).once("end", () => resolve(status.OK));
    });
    return { seen, first, ended, cancel: () => call.cancel() };
  }

  test("report that the server serves, and that it stops", async () => {
    const stopping = await serve(echo, { port: 0 });
    const client = clientOf(stopping);
    const [known, unknown] = [watch(client, Buffer.alloc(0)), watch(client, field(1, "x.Y"))];
    await Promise.all([known.first, unknown.first]);
    await stopping.close();
    expect([await known.ended, await unknown.ended]).toEqual([status.OK, status.OK]);
    client.close();
    // HealthCheckResponse.status is field 1: SERVING 1, NOT_SERVING 2, SERVICE_UNKNOWN 3.
    expect([known.seen, unknown.seen]).toEqual([["0801", "0802"], ["0803"]]);
  });

  test("one address has ten, and gets a place back when a watch ends", async () => {
    const client = clientOf(server);
    const watches = Array.from({ length: 10 }, () => watch(client, Buffer.alloc(0)));
    await Promise.all(watches.map(({ first }) => first));
    expect(await watch(client, Buffer.alloc(0)).ended).toBe(status.RESOURCE_EXHAUSTED);
    for (const each of watches) each.cancel();
    await Promise.all(watches.map(({ ended }) => ended));
    await expect
      .poll(async () => {
        const again = watch(client, Buffer.alloc(0));
        const outcome = await Promise.race([again.first.then(() => status.OK), again.ended]);
        again.cancel();
        return outcome;
      })
      .toBe(status.OK);
    client.close();
  });
});
