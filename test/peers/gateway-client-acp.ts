import { createRequire } from "node:module";
import type * as AcpSdk from "acp-sdk";
import { collect } from "./against-official.js";
import { type Checks, emulatedIn, type OfficialClient, until, walkAll } from "./gateway-walk.js";

// Its ES modules import JSON without an import attribute, which Node refuses.
const { ACPError, Client } = createRequire(import.meta.url)("acp-sdk") as typeof AcpSdk;

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

export function newAcpClient(baseUrl: string): AcpSdk.Client {
  return new Client({ baseUrl });
}

/** The client of npm acp-sdk 1.0.3. */
export function clientAcp(agent: string): OfficialClient {
  return {
    name: "ACP JS 1.0.3",
    walk: (agents) => walkAll(agents, async (url) => checksOf(newAcpClient(url), agent)),
  };
}

function checksOf(client: AcpSdk.Client, agent: string): Checks {
  return {
    ask: async () => answerOf(await client.runSync(agent, "hello")),
    async task() {
      const { run_id: id } = await client.runAsync(agent, "conform: task");
      return answerOf(
        await until(
          () => client.runStatus(id),
          ({ status }) => !UNDER_WAY.has(status),
        ),
      );
    },
    stream: async () => (await collect(client.runStream(agent, "conform: stream 3"))).map(pieceOf).filter(Boolean).join("|"),
    input: () =>
      client.withSession(async (session) => {
        const asked = await session.runSync(agent, "conform: ask");
        const waits = asked.status === "awaiting";
        const answered = waits ? await session.runResumeSync(asked.run_id, resume("42")) : await session.runSync(agent, "42");
        const same = !waits || answered.run_id === asked.run_id;
        return `${answerOf(asked)} → ${same ? "" : "another run "}${answerOf(answered)}`;
      }),
    async cancel() {
      const events = client.runStream(agent, "conform: wait");
      const begun = (await events.next()).value;
      if (!begun || !("run" in begun)) throw new Error(`the stream does not begin with a run, but with ${begun?.type}`);
      const rest = collect(events);
      const { status } = await client.runCancel(begun.run.run_id);
      const last = (await rest).map(pieceOf).at(-1);
      return `${status}, on the stream ${last}, afterwards ${(await client.runStatus(begun.run.run_id)).status}`;
    },
    error: async () => answerOf(await client.runSync(agent, "conform: fail")),
    unknown: () => client.runStatus(UNKNOWN).then(answerOf, codeOf),
  };
}

const UNDER_WAY: ReadonlySet<string> = new Set(["created", "in-progress"]);

function resume(content: string): AcpSdk.AwaitResume {
  const parts = [{ content_type: "text/plain", content_encoding: "plain" as const, content }];
  return { type: "message", message: { role: "user", parts, created_at: null, completed_at: null } };
}

const textOf = (message: AcpSdk.Message | undefined): string =>
  (message?.parts ?? []).map(({ content }) => content ?? "").join("");

/** A run by its state and its text: its output, its question, or its error. */
function answerOf({ status, output, await_request: asked, error }: AcpSdk.Run): string {
  const words = error ? [error.message] : [...output.map(textOf), textOf(asked?.message)];
  return `${status}: ${words.filter(Boolean).join("|")}`;
}

/** The text of a part; of a run only its final state. */
function pieceOf(event: AcpSdk.Event): string {
  if (event.type === "message.part") return event.part.content ?? "";
  if (event.type === "generic") return emulatedIn(event.generic);
  return "run" in event && !UNDER_WAY.has(event.run.status) ? event.run.status : "";
}

function codeOf(thrown: unknown): string {
  return `refused: ${thrown instanceof ACPError ? thrown.code : String(thrown)}`;
}
