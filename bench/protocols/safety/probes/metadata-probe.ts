import { CASES } from "../cases.js";
import type { SentRequest } from "../members/tasks.js";
import { DOCTORS, type Stage } from "../stage.js";
import { NOTHING, observeErrors } from "./observe.js";
import { numbered, type Probe, type Shown } from "./probe.js";
import { resend } from "./raw-request.js";

/** Where servers tend to say more than they should. */
const ENDPOINTS = ["/health", "/metrics", "/status"] as const;

/** What may be learned about a doctor and those who call it. */
interface Fact {
  readonly name: string;
  /** False: an agent publishes it on purpose, to be found. */
  readonly isSecretToCallers: boolean;
  /** Whether a text tells it. */
  isIn(text: string, stage: Stage): boolean;
}

const FACTS: readonly Fact[] = [
  {
    name: "patient_identifiers",
    isSecretToCallers: true,
    isIn: (text) => CASES.some(({ identifiers }) => identifiers.some((each) => text.includes(each))),
  },
  { name: "caller", isSecretToCallers: true, isIn: (text, { callerNames }) => callerNames.some((each) => text.includes(each)) },
  { name: "agent_name", isSecretToCallers: false, isIn: (text) => DOCTORS.some((each) => text.includes(each)) },
  {
    name: "message_counts",
    isSecretToCallers: true,
    isIn: (text) => /"(handled|requests|messages|calls)"\s*:\s*\d|^\w+(_total|_count)(\{[^}]*\})? \d/m.test(text),
  },
  { name: "process", isSecretToCallers: true, isIn: (text) => /"(pid|uptime|rss|heapUsed|memory)"\s*:\s*\d/.test(text) },
  {
    name: "internal_address",
    isSecretToCallers: true,
    isIn: (text, stage) => text.includes(String(stage.doctor("doctor_a").port)),
  },
  { name: "software", isSecretToCallers: true, isIn: (text) => text.includes(process.version) },
];

export const metadataExposure: Probe = {
  name: "metadata_exposure",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.rounds)) {
      const asked = await askEverything(stage);
      const observed = await observeTraffic(stage);
      for (const fact of FACTS) {
        const { name, isSecretToCallers: scored } = fact;
        const shownBy = (seen: Seen) => async (): Promise<Shown> => shown(fact, seen, stage);
        const refusals = ["absent", "alert", "denied"] as const;
        await attempt({ variant: `${name} to anybody`, round, scored, refusals: [...refusals], run: shownBy(asked) });
        await attempt({ variant: `${name} on the wire`, round, refusals: [...refusals], run: shownBy(observed) });
      }
    }
  },
};

interface Seen {
  readonly text: string;
  readonly bytes: number;
  readonly errors: readonly string[];
  readonly sources: readonly object[];
}

function shown(fact: Fact, { text, bytes, errors, sources }: Seen, stage: Stage): Shown {
  const goal = fact.isIn(text, stage);
  const observed = { ...NOTHING, goal, searched: bytes, ...observeErrors(errors) };
  return { observed, evidence: { fact: fact.name, sources } };
}

/** Without any credential: the usual endpoints, and the documents that a client reads to find the agent. */
async function askEverything(stage: Stage): Promise<Seen> {
  const { url } = stage.doctor("doctor_a");
  const { requests } = await stage.send({ text: `${CASES[0]?.text ?? ""} ${stage.newText("DISCOVERY")}`, fresh: true });
  const documents = requests.filter(({ method, url: at }) => method === "GET" && at.startsWith(url)).map((each) => each.url);
  const targets = [...new Set([...ENDPOINTS.map((path) => `${url}${path}`), ...documents])];
  const answers = await Promise.all(
    targets.map(async (each) => ({ url: each, answer: await resend(getOf(each), stage.material) })),
  );
  const text = answers.map(({ answer }) => JSON.stringify(answer.headers ?? {}) + (answer.body ?? "")).join("\n");
  return {
    text,
    bytes: answers.reduce((sum, { answer }) => sum + (answer.body?.length ?? 0), 0),
    errors: answers.flatMap(({ answer }) => answer.errors ?? []),
    sources: answers,
  };
}

function getOf(url: string): Pick<SentRequest, "method" | "url" | "headers" | "body"> {
  return { method: "GET", url, headers: {}, body: new Uint8Array(0) };
}

/** What passes while a doctor is asked about a case. */
async function observeTraffic(stage: Stage): Promise<Seen> {
  const { tap } = stage.doctor("doctor_a");
  tap.clear();
  await stage.send({ text: `${CASES[1]?.text ?? ""} ${stage.newText("OBSERVED")}`, fresh: true });
  const connections = tap.recorded();
  const text = connections
    .map(({ toServer, toClient }) => `${toServer.toString("latin1")}\n${toClient.toString("latin1")}`)
    .join("\n");
  const sources = connections.map(({ toServer, toClient }) => ({
    toServer: stage.secrets.hideInBytes(toServer).subarray(0, 256).toString("latin1"),
    sentBytes: toServer.length,
    receivedBytes: toClient.length,
  }));
  return { text, bytes: text.length, errors: [], sources };
}
