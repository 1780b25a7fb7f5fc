import { protocols } from "../../../../src/public/protocols.js";
import { answerCommands } from "../../../harness/worker.js";
import { nextTurn, type Plugged, plug, plugCodec, until } from "../plugged.js";
import type { Order, Registered, Scene, Work } from "../workload.js";

/** Measures the halves of one protocol, in one process, on the CPU time of that process. */

/** Calls between two turns of the event loop, the same in every arm. */
const CALLS_PER_TURN = 50;

const scenes = new Map<string, Promise<Plugged>>();
const warm = new Set<string>();

answerCommands({
  protocols: (): readonly Registered[] =>
    protocols
      .map(({ id, codec, needsIdentity }) => ({ id, hasCodec: codec !== undefined, hasHalves: needsIdentity !== true }))
      .filter(({ hasCodec, hasHalves }) => hasCodec || hasHalves),
  measure,
});

async function measure({ scene, work, ms, warmUpMs }: Order): Promise<number> {
  const name = JSON.stringify(scene);
  const making = scenes.get(name) ?? plugScene(scene);
  scenes.set(name, making);
  const plugged = await making;
  if (!warm.has(name + work)) await run(plugged, work, warmUpMs);
  warm.add(name + work);
  return run(plugged, work, ms);
}

async function plugScene(scene: Scene): Promise<Plugged> {
  const protocol = protocols.find(({ id }) => id === scene.protocol);
  if (protocol === undefined) throw new Error(`no protocol ${scene.protocol}`);
  return protocol.needsIdentity === true ? plugCodec(protocol, scene) : plug(protocol, scene);
}

/** CPU time per call in microseconds: less sensitive to other load than wall-clock time. */
async function run(plugged: Plugged, work: Work, ms: number): Promise<number> {
  const once = plugged.work[work];
  if (once === undefined) throw new Error(`there is no ${work} here`);
  const arrivedBefore = plugged.arrived();
  let [calls, us] = [0, 0];
  while (us < ms * 1000) {
    await plugged.prepare(work, CALLS_PER_TURN);
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS_PER_TURN; call++) {
      const made = once();
      if (made instanceof Promise) await made;
    }
    await nextTurn();
    const { user, system } = process.cpuUsage(before);
    calls += CALLS_PER_TURN;
    us += user + system;
  }
  if (work === "one way") await until(() => plugged.arrived() === arrivedBefore + calls);
  return us / calls;
}
