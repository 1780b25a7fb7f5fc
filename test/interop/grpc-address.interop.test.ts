import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { Role } from "@a2a-js/sdk";
import { ClientFactory as ClientFactory13, DefaultAgentCardResolver as Resolver13 } from "@a2a-js/sdk/client";
import { GrpcTransportFactory as Grpc13 } from "@a2a-js/sdk/client/grpc";
import { ClientFactory as ClientFactory03, DefaultAgentCardResolver as Resolver03 } from "a2a-js-sdk-03/client";
import { GrpcTransportFactory as Grpc03 } from "a2a-js-sdk-03/client/grpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { peerProgram } from "../../tools/peers.mjs";
import { type Environment, pythonFor, runProgram, runScript } from "./python.js";

/**
 * Which form of a gRPC address on a card each client takes: `host:port` (authority) or `http://host:port` (url). The table is that of
 * docs/decisions/0014.
 */

const FORMS = ["authority", "url"] as const;
type Form = (typeof FORMS)[number];

const echo = agent({
  name: "koine",
  description: "answers with its question",
  async *handle(message, task) {
    yield task.working();
    yield task.artifact(`you said: ${message.text}`);
    return task.complete();
  },
});

const servers = new Map<Form, Server>();
beforeAll(async () => {
  for (const form of FORMS)
    servers.set(form, await serve(echo, { port: 0, settings: { a2a: { grpcAddress: form, legacyGrpcAddress: form } } }));
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.close())));

interface Dialer {
  readonly name: string;
  readonly available: boolean;
  /** Whether a message over gRPC, or for google-adk over the binding that it prefers, is answered. */
  takes(url: string): Promise<boolean>;
  readonly expected: { readonly [form in Form]: boolean };
}

function python(name: string, environment: Environment, expected: Dialer["expected"], file = "grpc_send"): Dialer {
  const takes = async (url: string): Promise<boolean> => {
    const { send } = (await runScript({ environment, file }, url)) as { readonly send?: unknown }; // printed by our own script
    return send === true || send === "you said: hello";
  };
  return { name, available: pythonFor(environment) !== undefined, takes, expected };
}

function compiled(name: string, language: "go" | "rust", expected: Dialer["expected"]): Dialer {
  const program = peerProgram(language);
  const takes = async (url: string): Promise<boolean> => {
    const walk = await runProgram(spawn(program, ["call", url, "GRPC"])).catch(() => ({ send: undefined }));
    return walk["send"] === "you said: hello";
  };
  return { name, available: existsSync(program), takes, expected };
}

const part13 = { content: { $case: "text", value: "hello" } as const, metadata: undefined, filename: "", mediaType: "" };
const request13 = {
  tenant: "",
  message: {
    messageId: "m",
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [part13],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
};
const message03 = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hello" }] };

async function js13(url: string): Promise<boolean> {
  const cardResolver = new Resolver13();
  const card = await cardResolver.resolve(url);
  const only = card.supportedInterfaces.filter((each) => each.protocolBinding === "GRPC" && each.protocolVersion === "1.0");
  const factory = new ClientFactory13({ transports: [new Grpc13()], cardResolver });
  const client = await factory.createFromAgentCard({ ...card, supportedInterfaces: only });
  return answered(client.sendMessage(request13));
}

async function js03(url: string): Promise<boolean> {
  const cardResolver = new Resolver03();
  const factory = new ClientFactory03({ transports: [new Grpc03()], cardResolver, preferredTransports: ["GRPC"] });
  const client = await factory.createFromAgentCard(await cardResolver.resolve(url));
  return answered(client.sendMessage({ message: message03 } as Parameters<typeof client.sendMessage>[0]));
}

async function answered(reply: Promise<unknown>): Promise<boolean> {
  return reply.then(
    (result) => JSON.stringify(result).includes("you said: hello"),
    () => false,
  );
}

async function grpcurl(url: string): Promise<boolean> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[];
  };
  const target = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === "GRPC")?.url ?? "";
  const options = { timeout: 10_000 };
  return promisify(execFile)(peerProgram("grpcurl"), ["-plaintext", "-connect-timeout", "3", target, "list"], options).then(
    ({ stdout }) => stdout.includes("lf.a2a.v1.A2AService"),
    () => false,
  );
}

const DIALERS: readonly Dialer[] = [
  python("a2a-python 1.3.0", "a2a-1.3.0", { authority: true, url: false }),
  { name: "a2a-js 1.3.0", available: true, takes: js13, expected: { authority: true, url: false } },
  { name: "a2a-js 0.3.14", available: true, takes: js03, expected: { authority: true, url: false } },
  compiled("a2a-go 2.4.0", "go", { authority: true, url: false }),
  compiled("a2a-rs, a2a-grpc 0.3.11", "rust", { authority: true, url: true }),
  {
    name: "grpcurl 1.9.3",
    available: existsSync(peerProgram("grpcurl")),
    takes: grpcurl,
    expected: { authority: true, url: false },
  },
  python("google-adk 2.13.0", "google-adk-2.13.0", { authority: false, url: true }, "adk_client"),
];

describe.each(DIALERS.filter(({ available }) => available))("$name", ({ takes, expected }) => {
  test.each(FORMS)("with %s", { timeout: 60_000 }, async (form) => {
    expect(await takes(servers.get(form)?.url ?? "")).toBe(expected[form]);
  });
});

test.skipIf(!existsSync(peerProgram("grpcurl")))("grpcurl calls without a proto file, by reflection", async () => {
  const { host } = new URL(servers.get("authority")?.url ?? "");
  const run = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(peerProgram("grpcurl"), ["-plaintext", ...args])).stdout;
  const message = JSON.stringify({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] } });
  expect(JSON.parse(await run("-d", message, host, "lf.a2a.v1.A2AService/SendMessage"))).toMatchObject({
    task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "you said: hello" }] }] },
  });
  expect(JSON.parse(await run(host, "grpc.health.v1.Health/Check"))).toEqual({ status: "SERVING" });
  expect(await run(host, "describe", "a2a.v1.Part")).toContain("oneof");
});
