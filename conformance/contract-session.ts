import { AgentError, CancelSource, type Handler, type Maybe, startCall } from "../src/envelope/index.js";
import type { Protocol, Route } from "../src/protocols/protocol.js";
import type { Intake, Session, SessionEnd } from "../src/transport/exchange.js";
import { memoryLink } from "../src/transport/memory.js";
import { makeRequest } from "../src/transport/request.js";
import { type ContractRequirement, contract, demand, HOSTILE } from "./contract-requirement.js";
import {
  answering,
  clientOf,
  OPERATIONS_BY_KIND,
  openInterfaces,
  outcomeOf,
  PUBLIC_URL,
  served,
  type TestInterface,
} from "./scripted-host.js";

/** RFC 6455 §7.4.1: the server failed. */
const INTERNAL_ERROR = 1011;

/** Requirements for the sessions of a protocol. A protocol without sessions meets them all. */
export const sessionRequirements: readonly ContractRequirement[] = [
  contract(
    "session:hostile-server",
    "No message crashes the server half of a session: every one is answered or ends the session, and none as a fault of the server.",
    async (protocol) => {
      const faults: unknown[] = [];
      const link = memoryLink(served(protocol, answering, undefined, (thrown) => faults.push(thrown)));
      for (const { path, upgrade = [] } of sessionRoutes(protocol))
        for (const frame of [...HOSTILE, ...HOSTILE.map((text) => new TextEncoder().encode(text))]) {
          const session = await link.open?.(makeRequest({ method: "GET", url: PUBLIC_URL + path }), upgrade);
          demand(session !== undefined, "the memory link opens no sessions");
          void session.send(frame);
          const end = await answerOrEnd(session);
          demand(end?.code !== INTERNAL_ERROR, `${path} fails on ${JSON.stringify(frame.slice(0, 40))}`);
          session.close(1000, "");
        }
      demand(faults.length === 0, `a fault was reported: ${String(faults[0])}`);
    },
  ),
  contract(
    "session:hostile-client",
    "No message of a session deceives a client half: every one is an AgentError, none a success.",
    async (protocol) => {
      for (const { peer, label } of sessionInterfaces(protocol, answering))
        for (const frame of [...HOSTILE, new Uint8Array([0, 255])]) {
          const client = clientOf(protocol, memoryLink(replying((session) => void session.send(frame))), peer);
          const { events, error } = await outcomeOf(() => client(OPERATIONS_BY_KIND.send, startCall()));
          demand(error !== undefined, `${label}: took ${JSON.stringify(frame.slice(0, 40))} for ${JSON.stringify(events)}`);
        }
    },
  ),
  contract(
    "session:cut",
    "A call whose session ends is interrupted and may have been received; the next call opens another session.",
    async (protocol) => {
      for (const { peer, label } of sessionInterfaces(protocol, answering)) {
        let opened = 0;
        let current: Maybe<Session>;
        // The first session ends when the agent has the call: after a handshake, if the protocol has one.
        const closing: Handler = (operation, call) => {
          if (opened > 1) return answering(operation);
          current?.close(1001, "going away");
          return new Promise((_, reject) => call.cancel.onCancel(reject));
        };
        const server = served(protocol, closing);
        const link = memoryLink({
          ...server,
          async upgrade(head) {
            opened++;
            const upgraded = await server.upgrade(head);
            if (!("accept" in upgraded)) return upgraded;
            const accept = (session: Session): Promise<void> => {
              current = session;
              return upgraded.accept(session);
            };
            return { ...upgraded, accept };
          },
        });
        const client = clientOf(protocol, link, peer);
        const { error } = await outcomeOf(() => client(OPERATIONS_BY_KIND.send, startCall()));
        demand(
          error?.code === "interrupted" && error.facts.sent === "maybe",
          `${label}: ended with ${error?.code}, sent: ${error?.facts.sent}`,
        );
        const { error: later } = await outcomeOf(() => client(OPERATIONS_BY_KIND.send, startCall()));
        demand(later === undefined && opened === 2, `${label}: ${later?.code} in session ${opened}`);
      }
    },
  ),
  contract(
    "session:cancel",
    "A cancelled call is cancelled at the agent, and the other calls of its session are not.",
    async (protocol) => {
      const agent = new WaitingAgent();
      for (const { handler, label } of sessionInterfaces(protocol, agent.handler)) {
        const other = outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
        const cancel = new CancelSource();
        const given = outcomeOf(() => handler(OPERATIONS_BY_KIND["task.get"], startCall({ cancel })));
        await agent.began("send");
        await agent.began("task.get");
        cancel.cancel(new AgentError("cancelled", "the caller left"));
        const { error } = await given;
        demand(error?.code === "cancelled", `${label}: a cancelled call ended with ${error?.code}`);
        // Messages of a session arrive in order: after this one, the cancel has.
        await outcomeOf(() => handler(OPERATIONS_BY_KIND.ping, startCall()));
        agent.finish("send");
        const { error: failed } = await other;
        demand(failed === undefined, `${label}: the other call ended with ${failed?.code}`);
        demand(agent.cancelled.join() === "task.get", `${label}: cancelled at the agent: ${agent.cancelled.join()}`);
        agent.forget();
      }
    },
  ),
];

/** Answers pings at once, and other operations when it is told to. */
class WaitingAgent {
  readonly cancelled: string[] = [];
  readonly #running = new Map<string, () => void>();
  readonly #waiting = new Map<string, () => void>();

  readonly handler: Handler = (operation, call) => {
    const { kind } = operation;
    if (kind === "ping") return answering(operation);
    return new Promise((resolve, reject) => {
      call.cancel.onCancel((reason) => {
        this.cancelled.push(kind);
        reject(reason);
      });
      this.#running.set(kind, () => resolve(answering(operation)));
      this.#waiting.get(kind)?.();
    });
  };

  /** Resolves when an operation of this kind has arrived. */
  async began(kind: string): Promise<void> {
    if (!this.#running.has(kind)) await new Promise<void>((resolve) => this.#waiting.set(kind, resolve));
  }

  finish(kind: string): void {
    this.#running.get(kind)?.();
  }

  forget(): void {
    this.cancelled.length = 0;
    this.#running.clear();
    this.#waiting.clear();
  }
}

function sessionRoutes({ routes }: Protocol): readonly Route[] {
  return routes.filter(({ upgrade }) => upgrade !== undefined);
}

function sessionInterfaces(protocol: Protocol, script: Handler): readonly TestInterface[] {
  return openInterfaces(protocol, script).filter(({ peer }) => /^wss?:/.test(peer.url));
}

/** Undefined if the peer answers; otherwise how the session ended. */
async function answerOrEnd(session: Session): Promise<Maybe<SessionEnd>> {
  const first = await session.frames[Symbol.asyncIterator]().next();
  return first.done === true ? session.closed : undefined;
}

/** A server that accepts every session and reacts to every message in the same way. */
function replying(react: (session: Session) => void): Required<Pick<Intake, "take" | "upgrade">> {
  return {
    take: () => ({ status: 404, headers: {}, body: "" }),
    upgrade: ({ headers }) => ({
      subprotocol: headers["sec-websocket-protocol"]?.split(",", 1)[0],
      headers: {},
      abandon: () => undefined,
      async accept(session) {
        for await (const _frame of session.frames) react(session);
      },
    }),
  };
}
