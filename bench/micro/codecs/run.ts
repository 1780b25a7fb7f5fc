import { join } from "node:path";
import { isConclusive, ratiosOf } from "../../harness/conclude.js";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Progress } from "../../harness/progress.js";
import type { Row } from "../../harness/result.js";
import { type Arm, runSection } from "../../harness/rounds.js";
import { median } from "../../harness/statistics.js";
import { crowdArm, crowdSection, halvesArm, ratiosFor, sizeSection } from "./ratios.js";
import { CROWDS, type Order, type Registered, type Scene, type Size, type Work } from "./workload.js";

export interface CodecsBench {
  readonly dist: string;
  readonly cores: Cores;
  readonly progress: Progress;
  readonly rounds: number;
  readonly sizes: readonly Size[];
  /** Only these; all that are registered when empty. */
  readonly only: readonly string[];
  /** CPU time of each arm in a round. */
  readonly sliceMs: number;
  /** Before the first round, for each arm. */
  readonly warmUpMs: number;
  /** Milliseconds since the epoch: rounds that do not fit are skipped, except the first. */
  readonly endAtMs: number;
}

const HALVES: readonly Work[] = ["json bytes", "json both", "one way", "client", "server", "round trip"];

/** One process per protocol, sequentially; the arms of a protocol are interleaved. */
export async function runCodecs(
  bench: CodecsBench,
): Promise<{ readonly found: readonly Registered[]; readonly rows: readonly Row[] }> {
  const found = await protocolsOf(bench);
  const rows: Row[] = [];
  for (const [place, protocol] of found.entries()) {
    const worker = startCodecs(bench);
    const sections = sectionsOf(bench, worker, protocol);
    for (const [index, { name, arms }] of sections.entries()) {
      const left = sections.length - index + (found.length - place - 1) * sections.length;
      const endAtMs = Date.now() + (bench.endAtMs - Date.now()) / left;
      rows.push(...(await runArms({ ...bench, endAtMs }, name, arms, (sofar) => floorsAgree(protocol, sofar))));
    }
    worker.stop();
  }
  return { found, rows };
}

function sectionsOf(bench: CodecsBench, worker: Worker, { id: protocol, hasCodec, hasHalves }: Registered) {
  const arm = (name: string, scene: Scene, work: Work) => armOf(bench, worker, name, { scene, work });
  const all: readonly Work[] = ["json", ...(hasCodec ? (["codec"] as const) : []), ...(hasHalves ? HALVES : [])];
  const sizes = bench.sizes.map((size) => {
    const scene: Scene = { protocol, size, agents: CROWDS[0] };
    const arms = [arm("json again", scene, "json"), ...all.map((work) => arm(work, scene, work))];
    return { name: sizeSection(protocol, size), arms };
  });
  const crowds = CROWDS.flatMap((agents) => {
    const scene: Scene = { protocol, size: "small", agents };
    return [
      ...(hasCodec ? [arm(crowdArm(agents), scene, "codec")] : []),
      ...(hasHalves ? [arm(halvesArm(agents), scene, "round trip")] : []),
    ];
  });
  return [...sizes, { name: crowdSection(protocol), arms: crowds }];
}

async function protocolsOf(bench: CodecsBench): Promise<readonly Registered[]> {
  const worker = startCodecs(bench);
  const registered = await worker.ask<readonly Registered[]>("protocols");
  worker.stop();
  const ids = registered.map(({ id }) => id);
  const unknown = bench.only.find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new Error(`no protocol ${unknown}: there are ${ids.join(", ")}`);
  return registered.filter(({ id }) => bench.only.length === 0 || bench.only.includes(id));
}

function startCodecs({ dist, cores }: CodecsBench): Worker {
  return startWorker("codecs", join(dist, "bench", "micro", "codecs", "workers", "codecs.js"), { core: cores.load });
}

function armOf({ sliceMs, warmUpMs }: CodecsBench, worker: Worker, name: string, what: Pick<Order, "scene" | "work">): Arm {
  const order: Order = { ...what, ms: sliceMs, warmUpMs };
  return { name, measure: async () => ({ codecUs: await worker.ask<number>("measure", order) }) };
}

/** The planned rounds, and as many again while the two floors differ. */
async function runArms(
  { progress, rounds, endAtMs }: CodecsBench,
  name: string,
  arms: readonly Arm[],
  agree: (rows: readonly Row[]) => boolean,
): Promise<readonly Row[]> {
  // Warm up all arms before the first round: an arm that starts later changes how the others were compiled.
  for (const arm of arms) {
    progress.show(`${name} · ${arm.name} warms up`);
    await arm.measure();
  }
  const wanted = (done: number, rows: readonly Row[]) => done < rounds || (done < 2 * rounds && !agree(rows));
  const again = (done: number, rows: readonly Row[]) => done === 0 || (Date.now() < endAtMs && wanted(done, rows));
  const onStep = (round: number, arm: string) => progress.show(`${name} · round ${round + 1} · ${arm}`);
  return runSection({ name, arms, again, onStep });
}

/** Sections without the floor that is judged need no more rounds. */
function floorsAgree(protocol: Registered, rows: readonly Row[]): boolean {
  const [floors] = ratiosFor(protocol);
  const perRound = floors && ratiosOf(floors, rows);
  return perRound === undefined || isConclusive(median(perRound));
}
