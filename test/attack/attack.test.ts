import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTACKS, type Attack } from "./attacks.js";
import { GRPC_ATTACKS } from "./grpc-attacks.js";
import type { Noticed } from "./processes/bystander.js";
import { Stage, type WatchedServer } from "./stage.js";
import { Victim } from "./victim.js";

/**
 * Attacks on a gateway process in its recommended profile. Each is refused by name, takes nothing from another caller, and neither stalls
 * the process nor fills its memory.
 */

const FULL = process.env["KOINE_ATTACK"] === "full";
/** A stall is a wait during which the server itself ran this long, and this many times as long as without an attack. */
const STALL_MS = 250;
const STALL_RATIO = 5;
/** Longer than any wait for a busy machine. */
const STANDSTILL_MS = 10_000;
const CONTROL_MS = 1_500;

interface Outcome {
  readonly refusals: readonly string[];
  readonly longestMs: number;
  readonly busiestMs: number;
  readonly failures: number;
  readonly growthMiB: number;
  readonly lost: readonly string[];
  readonly seconds: number;
}

let stage: Stage;
let victim: Victim;
let quiet: Noticed;
const rows: string[] = [];

beforeAll(async () => {
  stage = await Stage.open();
  victim = await Victim.open(stage);
  quiet = await control(stage.gateway);
});
afterAll(async () => {
  process.stdout.write(
    `\nlongest /health wait without an attack: ${quiet?.longest} ms, ${quiet?.busiest} ms of it by the gateway\n${rows.join("\n")}\n`,
  );
  await victim?.close();
  await stage?.close();
});

async function control(server: WatchedServer): Promise<Noticed> {
  const bystander = stage.watch(server);
  await pause(CONTROL_MS / 3);
  await bystander.noticed();
  await pause(CONTROL_MS);
  return bystander.noticed();
}

async function measured(attack: Attack, target: WatchedServer): Promise<Outcome> {
  const bystander = stage.watch(target);
  await bystander.noticed();
  const before = await stage.memory();
  const began = performance.now();
  const refusals = await attack.run(stage, FULL);
  const { longest, busiest, failures } = await bystander.noticed();
  const { peak } = await stage.memory();
  const seconds = (performance.now() - began) / 1_000;
  const lost = await victim.lost();
  const growthMiB = Math.round((peak - before.resident) / 1_024);
  return { refusals, longestMs: longest, busiestMs: busiest, failures, growthMiB, lost, seconds };
}

const isStall = ({ longestMs, busiestMs }: Outcome): boolean =>
  (busiestMs > STALL_MS && busiestMs > STALL_RATIO * quiet.busiest) || longestMs > STANDSTILL_MS;

test.each([...ATTACKS, ...GRPC_ATTACKS])("$name", async (attack) => {
  const target = (await attack.target?.(stage)) ?? stage.gateway;
  stage.target = target;
  if (attack.target !== undefined) await control(target);
  const first = await measured(attack, target);
  // The machine may have been busy: a real stall repeats itself.
  const outcome = isStall(first) ? await measured(attack, target) : first;
  const names = [...new Set(outcome.refusals)].join(", ");
  const { longestMs, busiestMs, growthMiB, lost, seconds } = outcome;
  rows.push(
    `${attack.name}\n    refused ${outcome.refusals.length} times: ${names}\n    bystander: longest wait ${longestMs} ms (${busiestMs} ms by the server), memory +${growthMiB} MiB, ${lost.length === 0 ? "nothing lost" : `lost: ${lost.join(", ")}`}; ${seconds.toFixed(1)} s`,
  );
  expect(outcome.refusals).not.toEqual([]);
  expect(outcome.refusals.filter((name) => !attack.expected.test(name))).toEqual([]);
  expect(lost).toEqual([]);
  expect(outcome.failures).toBe(0);
  expect(isStall(outcome) ? `a stall of ${busiestMs} ms in a wait of ${longestMs} ms` : "no stall").toBe("no stall");
  expect(growthMiB).toBeLessThan(attack.growthMiB ?? 200);
});
