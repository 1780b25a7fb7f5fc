import { randomBytes } from "node:crypto";
import type { SentRequest } from "../members/tasks.js";
import { SCORED_SKEW_S, SKEWS_S } from "../probe-config.js";
import type { Observation } from "../result/event.js";
import { type DoctorName, messageIn, type Stage } from "../stage.js";
import { observeAnswer, observeReport } from "./observe.js";
import { numbered, type Probe, type Shown, shownAnswer, shownRequest } from "./probe.js";
import { answerIn, resend, sendBytes } from "./raw-request.js";
import { unproved } from "./tls-probes.js";

/** Tokens of an attacker. */
const TOKENS: Readonly<Record<string, () => string>> = {
  expired_session: () => `expired_session_${randomBytes(8).toString("hex")}`,
  admin_session: () => `admin_session_${randomBytes(8).toString("hex")}`,
  malformed: () => "%%%.not-a-token.%%%",
  unsigned_jwt: () => `${segment({ alg: "none", typ: "JWT" })}.${segment({ sub: "coordinator", scope: "admin" })}.`,
  absent: () => "",
};

const segment = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export const sessionHijack: Probe = {
  name: "session_hijack",
  async run({ stage, config, attempt }) {
    const { ca } = stage.material;
    for (const round of numbered(config.rounds)) {
      for (const [variant, token] of Object.entries(TOKENS))
        await attempt({
          ...{ variant, round, refusals: ["denied", "alert"] },
          run: () => unproved(stage, stage.newText("HIJACK"), { token: token(), client: { ca } }),
        });
      await attempt({ variant: "other_user", round, refusals: ["denied", "alert"], run: () => sentAs(stage, "other") });
    }
  },
};

/** A message by somebody else's own credentials. */
async function sentAs(stage: Stage, as: "other" | "coordinator"): Promise<Shown> {
  const text = stage.newText(`AS-${as}`);
  const report = await stage.send({ text, as, fresh: true });
  const handled = await stage.handled("doctor_a", text);
  const observed = observeReport(report);
  return {
    observed: { ...observed, goal: observed.goal || handled > 0 },
    evidence: { errors: report.errors, requests: report.requests.map(shownExchange), handled },
  };
}

function shownExchange(sent: SentRequest): object {
  return { request: shownRequest(sent), answers: sent.answers.map(shownAnswer) };
}

export const replay: Probe = {
  name: "replay",
  async run({ stage, config, attempt }) {
    const refusals = ["denied", "alert"] as const;
    for (const round of numbered(config.replayRounds)) {
      const early = await delivered(stage, stage.newText("EARLY"));
      const now = () => delivered(stage, stage.newText("REPLAY"));
      await attempt({ variant: "same_session", round, refusals: [...refusals], run: async () => again(stage, await now()) });
      await attempt({
        ...{ variant: "other_recipient", round, refusals: [...refusals] },
        run: async () => again(stage, await now(), "doctor_b"),
      });
      await attempt({ variant: "network", round, refusals: [...refusals, "closed"], run: () => bytesAgain(stage) });
      await attempt({ variant: "later", round, refusals: [...refusals], run: () => again(stage, early) });
    }
  },
};

interface Delivered {
  readonly text: string;
  readonly sent: SentRequest;
}

/** A message that its recipient has handled, as whoever relays it has it. */
async function delivered(stage: Stage, text: string): Promise<Delivered> {
  return { text, sent: messageIn(await stage.send({ text })) };
}

/** The same request, byte for byte. The attacker wants it to be handled or answered again. */
async function again(stage: Stage, { text, sent }: Delivered, to: DoctorName = "doctor_a"): Promise<Shown> {
  const before = await stage.handled(to, text);
  const { origin } = new URL(stage.doctor(to).url);
  const moved = { ...sent, url: `${origin}${sent.url.slice(new URL(sent.url).origin.length)}` };
  const answer = await resend(moved, clientOf(stage));
  const handled = (await stage.handled(to, text)) - before;
  const observed = observeAnswer(answer);
  return {
    observed: { ...observed, goal: observed.goal || handled > 0 },
    evidence: { request: shownRequest(moved), answer: shownAnswer(answer), handledAgain: handled },
  };
}

/** A relay has a certificate of its own where callers need one. */
function clientOf({ target, material }: Stage) {
  return { ca: material.ca, ...(target.row.transport === "mtls" ? material.client.valid : {}) };
}

/** The bytes of a whole connection, as the network saw them. */
async function bytesAgain(stage: Stage): Promise<Shown> {
  const { tap } = stage.doctor("doctor_a");
  const text = stage.newText("NETWORK");
  tap.clear();
  const report = await stage.send({ text, fresh: true });
  const connections = tap.recorded();
  const before = await stage.handled("doctor_a", text);
  let observed: Observation | undefined;
  const answers: object[] = [];
  for (const { toServer } of connections) {
    const received = await sendBytes(tap.port, toServer);
    const answer = received.received[0] === TLS_HANDSHAKE ? { closed: received.ended } : answerIn(received);
    answers.push({ sentBytes: toServer.length, receivedBytes: received.received.length, ...answer });
    const next = observeAnswer(answer);
    observed = observed?.goal === true ? observed : next;
  }
  const handled = (await stage.handled("doctor_a", text)) - before;
  if (observed === undefined) throw new Error(`no bytes passed: ${report.errors.join("; ")}`);
  return { observed: { ...observed, goal: handled > 0 }, evidence: { connections: answers, handledAgain: handled } };
}

/** The type of the first record of a server that speaks TLS. What follows is sealed with keys of this connection. */
const TLS_HANDSHAKE = 0x16;

export const timeSkewMatrix: Probe = {
  name: "time_skew_matrix",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.skewRounds)) {
      const seconds = SKEWS_S[(round - 1) % SKEWS_S.length] ?? SCORED_SKEW_S;
      await attempt({
        ...{ variant: `${seconds > 0 ? "+" : ""}${seconds}s`, round, refusals: ["denied"] },
        scored: Math.abs(seconds) >= SCORED_SKEW_S,
        run: () => skewed(stage, seconds * 1_000),
      });
    }
  },
};

async function skewed(stage: Stage, skewMs: number): Promise<Shown> {
  const text = stage.newText("SKEWED");
  const report = await stage.send({ text, fresh: true, inject: { skewMs } });
  const handled = await stage.handled("doctor_a", text);
  const observed = observeReport(report);
  return {
    observed: { ...observed, goal: observed.goal || handled > 0 },
    evidence: { skewMs, errors: report.errors, requests: report.requests.map(shownExchange), handled },
  };
}

/** Messages of one window. */
const WINDOW = 3;

export const windowAnomalies: Probe = {
  name: "window_anomalies",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.rounds)) {
      await attempt({ variant: "WINDOW_REPEAT", round, refusals: ["denied"], run: () => windowRepeat(stage) });
      await attempt({ variant: "DUPLICATE", round, refusals: ["denied"], run: () => duplicate(stage) });
      // Messages of agents may overtake each other: reported, not scored.
      await attempt({ variant: "DISORDER", round, scored: false, refusals: ["denied"], run: () => disorder(stage) });
    }
  },
};

async function windowRepeat(stage: Stage): Promise<Shown> {
  const window: Delivered[] = [];
  for (let index = 0; index < WINDOW; index++) window.push(await delivered(stage, stage.newText("WINDOW")));
  return worst(await inTurn(window, (each) => again(stage, each)));
}

async function duplicate(stage: Stage): Promise<Shown> {
  const text = stage.newText("DUPLICATE");
  const report = await stage.send({ text, inject: { duplicate: true } });
  const answer = messageIn(report).answers.at(-1) ?? {};
  const handled = await stage.handled("doctor_a", text);
  const observed = observeAnswer(answer);
  return {
    observed: { ...observed, goal: observed.goal || handled > 1 },
    evidence: { requests: report.requests.map(shownExchange), handled },
  };
}

/** Made in order, and delivered backwards: what comes after the last one is out of order. */
async function disorder(stage: Stage): Promise<Shown> {
  const window: Delivered[] = [];
  for (let index = 0; index < WINDOW; index++) {
    const text = stage.newText("DISORDER");
    window.push({ text, sent: await stage.withheld(text) });
  }
  const [, ...late] = await inTurn(window.reverse(), (each) => again(stage, each));
  return worst(late);
}

async function inTurn<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/** The one that the attacker likes best. */
function worst(shown: readonly Shown[]): Shown {
  const [first] = [...shown].sort((a, b) => Number(b.observed.goal) - Number(a.observed.goal));
  if (first === undefined) throw new Error("there is no message in the window");
  return { observed: first.observed, evidence: { messages: shown.map(({ evidence }) => evidence) } };
}

/** Longer than every other run of letters in a message, so that it is what is changed. */
const FILLING = "diagnosis".repeat(30);

export const tampering: Probe = {
  name: "tampering",
  async run({ stage, config, attempt }) {
    for (const round of numbered(config.rounds))
      for (const tamper of ["body", "query"] as const)
        await attempt({ variant: tamper, round, refusals: ["denied"], run: () => tampered(stage, tamper) });
  },
};

async function tampered(stage: Stage, tamper: "body" | "query"): Promise<Shown> {
  const tag = stage.newText("TAMPERED");
  const report = await stage.send({ text: `${tag} ${FILLING}`, inject: { tamper } });
  const handled = await stage.handled("doctor_a", tag);
  const observed = observeReport(report);
  return {
    observed: { ...observed, goal: handled > 0 },
    evidence: { errors: report.errors, requests: report.requests.map(shownExchange), handled },
  };
}

export const keyRotation: Probe = {
  name: "key_rotation",
  async run({ stage, config, attempt }) {
    const captured: Delivered[] = [];
    for (const _round of numbered(config.rounds)) {
      const text = stage.newText("BEFORE-ROTATION");
      captured.push({ text, sent: await stage.withheld(text) });
    }
    await stage.rotate();
    for (const [index, each] of captured.entries()) {
      const round = index + 1;
      await attempt({ variant: "old_credential", round, refusals: ["denied"], run: () => sentAs(stage, "coordinator") });
      await attempt({ variant: "old_message", round, refusals: ["denied"], run: () => again(stage, each) });
    }
  },
};
