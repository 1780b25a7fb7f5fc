import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHook } from "../../conformance/hook.js";
import type { Server } from "../../src/index.js";
import type { Delivery, Hook, Subject } from "../../src/protocols/requirement.js";
import { cardSigner, newCardKey } from "../../src/public/auth.js";
import type { HttpRequest } from "../../src/transport/exchange.js";
import { ALICE, startGuardedKoine } from "../peers/koine.js";
import { asIs, bent, outcomeOf } from "./broken.js";

type Bend = (deliveries: readonly Delivery[]) => readonly Delivery[];
interface Mutation {
  readonly what: string;
  readonly caught: string;
  readonly with: Partial<Subject>;
}

/** A webhook that sees what a worse server would have sent. */
function worse(bend: Bend): Partial<Subject> {
  return {
    async openHook(): Promise<Hook> {
      const hook = await openHook();
      return {
        url: hook.url,
        get deliveries() {
          return bend(hook.deliveries);
        },
        until: (isEnough) => hook.until((deliveries) => isEnough(bend(deliveries))),
        close: () => hook.close(),
      };
    },
  };
}

const eachWith =
  (change: (delivery: Delivery) => Partial<Delivery>): Bend =>
  (deliveries) =>
    deliveries.map((delivery) => ({ ...delivery, ...change(delivery) }));
const headersWith = (name: string, value: string | undefined): Bend =>
  eachWith(({ headers }) => ({ headers: { ...headers, [name]: value } }));

const textOf = (change: (text: string) => string): Partial<Subject> => ({
  exchange: bent(asIs, (response) => ({ ...response, body: change(response.body.toString("utf8")) })),
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
  { what: "told by PUT", caught: "1.0:rest:delivery:end", with: worse(eachWith(() => ({ method: "PUT" }))) },
  {
    what: "told of another task",
    caught: "1.0:grpc:delivery:end",
    with: worse(eachWith(({ text }) => ({ text: text.replaceAll(/"taskId":"[^"]+"/g, '"taskId":"other"') }))),
  },
  {
    what: "told in the form of 0.3",
    caught: "1.0:grpc:delivery:form",
    with: worse(
      eachWith(({ text }) => ({
        text: JSON.stringify({ kind: "status-update", ...Object.values(JSON.parse(text) as object)[0] }),
      })),
    ),
  },
  { what: "told nothing", caught: "0.3:grpc:delivery:end", with: worse(() => []) },
  { what: "told as text", caught: "1.0:jsonrpc:delivery:media-type", with: worse(headersWith("content-type", "text/plain")) },
  { what: "told backwards", caught: "1.0:rest:delivery:order", with: worse((deliveries) => [...deliveries].reverse()) },
  {
    what: "told with another token",
    caught: "1.0:grpc:delivery:token",
    with: worse(headersWith("x-a2a-notification-token", "other")),
  },
  {
    what: "told without credentials",
    caught: "1.0:grpc:delivery:authorization",
    with: worse(headersWith("authorization", undefined)),
  },
  {
    what: "a delete that is only said to have happened",
    caught: "1.0:jsonrpc:delivery:deleted",
    with: {
      exchange: bent((request) => ({
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
    with: { exchange: bent(withCredentials) },
  },
  {
    what: "no question who calls",
    caught: "0.3:grpc:auth:status",
    with: { exchange: bent(withCredentials) },
  },
  {
    what: "an extension that is declared and never active",
    caught: "1.0:rest:extensions:activated",
    with: {
      exchange: bent(asIs, (response) => ({
        ...response,
        headers: { ...response.headers, "a2a-extensions": "https://other.example" },
      })),
    },
  },
];

describe("servers that deliver, sign and admit badly", () => {
  let server: Server;
  beforeAll(async () => {
    const cardKeys = [cardSigner({ key: newCardKey("ES256", "conform-1").privateJwk })];
    server = await startGuardedKoine({ push: { allow: ["127.0.0.1"] }, cardKeys });
  });
  afterAll(() => server.close());

  for (const { what, caught, with: fault } of MUTATIONS)
    test(`${what}: caught by ${caught}`, async () => {
      const good = { url: server.url, headers: { authorization: `Bearer ${ALICE}` } };
      expect(await outcomeOf(good, `a2a:${caught}`)).toBe("met");
      expect(await outcomeOf({ ...good, ...fault }, `a2a:${caught}`)).toBe("unmet");
    });
});
