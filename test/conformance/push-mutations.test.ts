import { afterAll, beforeAll, describe, test } from "vitest";
import { openHook } from "../../conformance/hook.js";
import type { Server } from "../../src/index.js";
import type { Delivery, Hook, Subject } from "../../src/protocols/requirement.js";
import { cardSigner, newCardKey } from "../../src/public/auth.js";
import type { HttpRequest } from "../../src/transport/exchange.js";
import { ALICE, startGuardedKoine } from "../peers/koine.js";
import { expectCaught, intercept, interceptText, unchanged } from "./intercept.js";

type ChangeDeliveries = (deliveries: readonly Delivery[]) => readonly Delivery[];
interface Mutation {
  readonly what: string;
  readonly caught: string;
  readonly with: Partial<Subject>;
}

/** A webhook that receives what a faulty server would have sent. */
function receiving(change: ChangeDeliveries): Partial<Subject> {
  return {
    async openHook(): Promise<Hook> {
      const hook = await openHook();
      return {
        url: hook.url,
        get deliveries() {
          return change(hook.deliveries);
        },
        until: (isEnough) => hook.until((deliveries) => isEnough(change(deliveries))),
        close: () => hook.close(),
      };
    },
  };
}

const eachWith =
  (change: (delivery: Delivery) => Partial<Delivery>): ChangeDeliveries =>
  (deliveries) =>
    deliveries.map((delivery) => ({ ...delivery, ...change(delivery) }));
const headersWith = (name: string, value: string | undefined): ChangeDeliveries =>
  eachWith(({ headers }) => ({ headers: { ...headers, [name]: value } }));

const textOf = (change: (text: string) => string): Partial<Subject> => ({
  exchange: interceptText(change),
});

/** The protected header of every signature with a member replaced. */
const headerWith = (change: object): Partial<Subject> =>
  textOf((text) =>
    text.replaceAll(/"protected":"([^"]+)"/g, (_whole, held: string) => {
      const header = { ...JSON.parse(Buffer.from(held, "base64url").toString("utf8")), ...change };
      return `"protected":"${Buffer.from(JSON.stringify(header)).toString("base64url")}"`;
    }),
  );

const withCredentials = (request: HttpRequest): HttpRequest => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${ALICE}` },
});

const MUTATIONS: readonly Mutation[] = [
  { what: "notifies by PUT", caught: "1.0:rest:delivery:end", with: receiving(eachWith(() => ({ method: "PUT" }))) },
  {
    what: "notifies of another task",
    caught: "1.0:grpc:delivery:end",
    with: receiving(eachWith(({ text }) => ({ text: text.replaceAll(/"taskId":"[^"]+"/g, '"taskId":"other"') }))),
  },
  {
    what: "notifies in the form of 0.3",
    caught: "1.0:grpc:delivery:form",
    with: receiving(
      eachWith(({ text }) => ({
        text: JSON.stringify({ kind: "status-update", ...Object.values(JSON.parse(text) as object)[0] }),
      })),
    ),
  },
  { what: "never notifies", caught: "0.3:grpc:delivery:end", with: receiving(() => []) },
  {
    what: "notifies as text",
    caught: "1.0:jsonrpc:delivery:media-type",
    with: receiving(headersWith("content-type", "text/plain")),
  },
  {
    what: "notifies in reverse order",
    caught: "1.0:rest:delivery:order",
    with: receiving((deliveries) => [...deliveries].reverse()),
  },
  {
    what: "notifies with another token",
    caught: "1.0:grpc:delivery:token",
    with: receiving(headersWith("x-a2a-notification-token", "other")),
  },
  {
    what: "notifies without credentials",
    caught: "1.0:grpc:delivery:authorization",
    with: receiving(headersWith("authorization", undefined)),
  },
  {
    what: "a delete without effect",
    caught: "1.0:jsonrpc:delivery:deleted",
    with: {
      exchange: intercept((request) => ({
        ...request,
        body: Buffer.from(Buffer.from(request.body).toString("utf8").replace('"id":"gone"}}', '"id":"none"}}')),
      })),
    },
  },
  {
    what: "a config that is read with its secrets",
    caught: "1.0:rest:push:no-secrets",
    with: textOf((text) => text.replace('"id":"c-5"', '"id":"c-5","token":"conformance-token-0123456789"')),
  },
  { what: "a signature by no algorithm", caught: "card:signature-header", with: headerWith({ alg: "none" }) },
  { what: "a signature by no key", caught: "card:signature-header", with: headerWith({ kid: undefined }) },
  { what: "a signature of another type", caught: "card:signature-type", with: headerWith({ typ: "JWT" }) },
  {
    what: "a gRPC address that is none",
    caught: "card:grpc-addresses",
    with: textOf((text) => text.replaceAll(/"url":"127\.0\.0\.1:\d+"/g, '"url":"nowhere at all"')),
  },
  {
    what: "an extended card for everybody",
    caught: "1.0:grpc:extended-card:anonymous",
    with: { exchange: intercept(withCredentials) },
  },
  {
    what: "no authentication",
    caught: "0.3:grpc:auth:status",
    with: { exchange: intercept(withCredentials) },
  },
  {
    what: "an extension that is declared and never active",
    caught: "1.0:rest:extensions:activated",
    with: {
      exchange: intercept(unchanged, (response) => ({
        ...response,
        headers: { ...response.headers, "a2a-extensions": "https://other.example" },
      })),
    },
  },
];

describe("servers with faults in push delivery, signatures and authentication", () => {
  let server: Server;
  beforeAll(async () => {
    const cardKeys = [cardSigner({ key: newCardKey("ES256", "conform-1").privateJwk })];
    server = await startGuardedKoine({ push: { allow: ["127.0.0.1"] }, cardKeys });
  });
  afterAll(() => server.close());

  test.each(MUTATIONS)("$what: caught by $caught", async ({ caught, with: fault }) => {
    await expectCaught({ url: server.url, headers: { authorization: `Bearer ${ALICE}` } }, fault, [`a2a:${caught}`]);
  });
});
