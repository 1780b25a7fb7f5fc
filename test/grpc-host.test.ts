import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenerInterfaces } from "../apps/config/index.js";
import { agent, connect, type Server, serve } from "../src/index.js";
import { bearerTokens } from "../src/public/auth.js";

/** What a host answers over gRPC beside the calls of A2A, asked by the client library of grpc-js. */

const one = agent({ name: "one", description: "the default agent", handle: ({ text }) => `one: ${text}` });
const two = agent({ name: "two", description: "another agent", handle: ({ text }) => `two: ${text}` });

let server: Server;
let client: Client;
beforeAll(async () => {
  server = await serve([one, two], { port: 0 });
  client = new Client(new URL(server.url).host, credentials.createInsecure());
});
afterAll(async () => {
  client?.close();
  await server?.close();
});

const bytes = (value: Buffer): Buffer => value;

interface Outcome {
  readonly code: number;
  readonly reply?: Buffer;
}

function ask(path: string, request: Buffer, metadata = new Metadata()): Promise<Outcome> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, bytes, bytes, request, metadata, (error: ServiceError | null, reply?: Buffer) =>
      resolve(error === null ? { code: status.OK, ...(reply && { reply }) } : { code: error.code }),
    );
  });
}

describe("an unknown service", () => {
  test("is unimplemented", async () => {
    expect(await ask("/no.such.Service/Method", Buffer.alloc(0))).toEqual({ code: status.UNIMPLEMENTED });
  });

  test("is unimplemented for a caller that keeps its stream open", async () => {
    const call = client.makeBidiStreamRequest("/no.such.Service/Stream", bytes, bytes);
    const failed = new Promise<ServiceError>((resolve) => call.once("error", resolve));
    call.on("data", () => undefined).write(Buffer.from([0x3a, 0x00]));
    expect((await failed).code).toBe(status.UNIMPLEMENTED);
  });

  test("other requests get JSON", async () => {
    const response = await fetch(`${server.url}/no/such/path`, { method: "POST", body: "{}" });
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
  });
});

describe("grpc.health.v1", () => {
  // HealthCheckRequest.service is field 1, HealthCheckResponse.status field 1; SERVING is 1.
  const serviceNamed = (name: string): Buffer => Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);

  test.each(["", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"])("%j serves", async (name) => {
    const request = name === "" ? Buffer.alloc(0) : serviceNamed(name);
    const answer = await ask("/grpc.health.v1.Health/Check", request);
    expect(answer).toEqual({ code: status.OK, reply: Buffer.from([0x08, 0x01]) });
  });

  test("an unknown name is not found", async () => {
    expect(await ask("/grpc.health.v1.Health/Check", serviceNamed("x.Y"))).toEqual({ code: status.NOT_FOUND });
  });

  test("is answered to anyone, also where callers are authenticated", async () => {
    const guarded = await serve(one, { port: 0, admission: bearerTokens(new Map([["ann", "a-token-of-ann-0123456789"]])) });
    const anonymous = new Client(new URL(guarded.url).host, credentials.createInsecure());
    const code = await new Promise<number>((resolve) => {
      anonymous.makeUnaryRequest("/grpc.health.v1.Health/Check", bytes, bytes, Buffer.alloc(0), (error: ServiceError | null) =>
        resolve(error?.code ?? status.OK),
      );
    });
    anonymous.close();
    await guarded.close();
    expect(code).toBe(status.OK);
  });
});

describe("every agent of a host", () => {
  test.each(["one", "two"])("%s is called over gRPC as its card says", async (name) => {
    const peer = await connect(`${server.url}/a2a/${name}`, { pin: "a2a@1.0/GRPC" });
    const answer = await peer.ask("hello");
    await peer.close();
    expect(answer).toBe(`${name}: hello`);
  });

  test("metadata names the agent too; an unknown one is not found", async () => {
    // GetTaskRequest.id is field 2.
    const request = Buffer.from([0x12, 0x01, 0x78]);
    const named = (name: string): Metadata => {
      const metadata = new Metadata();
      metadata.set("koine-agent", name);
      return metadata;
    };
    const { code } = await ask("/lf.a2a.v1.A2AService/GetTask", request, named("two"));
    expect(code).toBe(status.NOT_FOUND);
    expect(await ask("/lf.a2a.v1.A2AService/ListTasks", Buffer.alloc(0), named("two"))).toMatchObject({ code: status.OK });
    expect(await ask("/lf.a2a.v1.A2AService/ListTasks", Buffer.alloc(0), named("three"))).toEqual({ code: status.NOT_FOUND });
  });
});

test("a page size of zero is none: a2a-go sends it where its caller named no size", async () => {
  // ListTasksRequest.page_size is field 4, a varint; 101 is above the limit.
  expect(await ask("/lf.a2a.v1.A2AService/ListTasks", Buffer.from([0x20, 0x00]))).toMatchObject({ code: status.OK });
  expect(await ask("/lf.a2a.v1.A2AService/ListTasks", Buffer.from([0x20, 101]))).toEqual({ code: status.INVALID_ARGUMENT });
});

describe("a host without gRPC", () => {
  test("its cards list http URLs only, as google-adk demands, and calls are rejected", async () => {
    const plain = await serve([one, two], { port: 0, protocols: listenerInterfaces(undefined, false) });
    const listed = await Promise.all(
      ["/.well-known/agent-card.json", "/a2a/two/.well-known/agent-card.json"].map(async (path) => {
        const card = (await (await fetch(`${plain.url}${path}`)).json()) as { supportedInterfaces: { url: string }[] };
        return card.supportedInterfaces.map(({ url }) => new URL(url).protocol);
      }),
    );
    const dialled = new Client(new URL(plain.url).host, credentials.createInsecure());
    const code = await new Promise<number>((resolve) => {
      dialled.makeUnaryRequest("/lf.a2a.v1.A2AService/ListTasks", bytes, bytes, Buffer.alloc(0), (error: ServiceError | null) =>
        resolve(error?.code ?? status.OK),
      );
    });
    dialled.close();
    await plain.close();
    expect(listed.flat()).toEqual(Array(8).fill("http:"));
    expect(code).toBe(status.FAILED_PRECONDITION);
  });
});
