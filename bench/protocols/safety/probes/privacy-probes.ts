import { setTimeout as pause } from "node:timers/promises";
import { CASES } from "../cases.js";
import { DOCTORS, type Stage } from "../stage.js";
import { searchCanary } from "../wire/canary.js";
import { type Sniffed, sniff } from "../wire/packet-capture.js";
import { searchMemory } from "../wire/process-memory.js";
import { formsIn, needlesOf } from "../wire/search.js";
import { NOTHING } from "./observe.js";
import { numbered, type Probe, type Shown } from "./probe.js";

/** Between two messages while the network is captured. */
const EVERY_MS = 50;
/** Fewer bytes than any process of Node has: the search has read its memory. */
const LEAST_MEMORY = 10 * 1024 * 1024;
/** What evidence shows around a find. */
const AROUND_BYTES = 120;

interface Captured {
  readonly network: Sniffed;
  readonly messages: number;
  readonly answered: number;
  /** What was said and must not be seen, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

export const networkSniffing: Probe = {
  name: "network_sniffing",
  async run({ stage, config, attempt, signal }) {
    const captured = await capture(stage, config.captureSeconds, signal);
    const canary = await searchCanary();
    const controls = [
      { name: "the canary was found in every form", passed: canary.missing.length === 0 && canary.by === captured.network.by },
      { name: "every message was answered while the network was captured", passed: captured.answered === captured.messages },
    ];
    for (const [variant, secret] of Object.entries(captured.secrets))
      await attempt({
        ...{ variant, round: 1, refusals: ["absent"] },
        run: async () => {
          const { messages, answered, network } = captured;
          const { bytes, by, because } = network;
          const forms = [...formsIn(secret, bytes)];
          const excerpt = excerptOf(stage.secrets.hideInBytes(bytes), secret);
          const observed = { ...NOTHING, goal: forms.length > 0, searched: bytes.length };
          const capture = { by, because: because ?? null };
          const evidence = { capture, messages, answered, searchedFor: secret, forms, canary, excerpt };
          return { observed, controls, evidence };
        },
      });
  },
};

/** Watermarked traffic, over open and over new connections, captured while it flows. */
async function capture(stage: Stage, seconds: number, signal: AbortSignal): Promise<Captured> {
  const [patient] = CASES;
  const [name = "", id = "", ssn = "", card = ""] = patient?.identifiers ?? [];
  const probe = stage.newText("PLAINTEXT_PROBE").replaceAll("-", "_");
  const marker = `HIDDEN_MARKER:S2_E2E_WATERMARK_TEST_${stage.newText("M").replaceAll("-", "_")}`;
  let messages = 0;
  let answered = 0;
  const taps = DOCTORS.map((doctor) => stage.doctor(doctor).tap);
  const network = await sniff(taps, async () => {
    const until = performance.now() + seconds * 1_000;
    do {
      const doctor = DOCTORS[messages % DOCTORS.length] ?? "doctor_a";
      const text = `${probe} ${marker} ${patient?.text ?? ""} #${messages}`;
      const { answer } = await stage.send({ doctor, text, fresh: messages % 4 === 3 });
      messages++;
      if (answer === `noted: ${text}`) answered++;
      await pause(EVERY_MS);
    } while (performance.now() < until && !signal.aborted);
  });
  return {
    network,
    messages,
    answered,
    secrets: { PLAINTEXT_PROBE: probe, HIDDEN_MARKER: marker, patient_name: name, patient_id: id, ssn, card },
  };
}

/** The place where it was found, or the beginning of what was captured. */
function excerptOf(bytes: Buffer, secret: string): object {
  const at = bytes.indexOf(secret);
  const from = Math.max(0, at - AROUND_BYTES);
  const piece = bytes.subarray(from, from + 2 * AROUND_BYTES);
  return { at, text: piece.toString("latin1").replaceAll(/[^\x20-\x7e]/g, "."), hex: piece.toString("hex") };
}

export const e2ePayloadDetection: Probe = {
  name: "e2e_payload_detection",
  async run({ stage, config, attempt }) {
    const { tap, port } = stage.doctor("doctor_a");
    for (const round of numbered(config.rounds))
      await attempt({
        ...{ variant: "relay_memory", round, refusals: ["absent"] },
        run: async () => {
          const relay = await stage.openRelay("doctor_a");
          tap.target = relay.port;
          try {
            return await searchRelay(stage, relay.pid);
          } finally {
            tap.target = port;
          }
        },
      });
  },
};

/** The doctor must hold what was said, or the search proves nothing. */
async function searchRelay(stage: Stage, pid: number): Promise<Shown> {
  const marker = `HIDDEN_MARKER:S2_E2E_WATERMARK_TEST_${stage.newText("M").replaceAll("-", "_")}`;
  const { answer, errors } = await stage.send({ text: marker, fresh: true });
  const needles = needlesOf(marker);
  const relay = await searchMemory(pid, needles);
  const doctor = await searchMemory(stage.doctor("doctor_a").pid, needles);
  const shown = ({ forms, bytes }: typeof relay) => ({ forms: [...forms], bytes });
  return {
    observed: { ...NOTHING, goal: relay.forms.size > 0, searched: relay.bytes },
    controls: [
      { name: "the message was answered through the relay", passed: answer === `noted: ${marker}` },
      { name: "the same search finds it in the doctor", passed: doctor.forms.size > 0 },
      { name: "the memory of the relay was read", passed: relay.bytes > LEAST_MEMORY },
    ],
    evidence: { searchedFor: marker, errors, relay: shown(relay), doctor: shown(doctor) },
  };
}
