import { AgentError, type Maybe, type Records } from "../../envelope/index.js";
import { boundedContext } from "./context-key.js";
import { drawBeta } from "./draw-beta.js";
import { EvidenceStore } from "./evidence-store.js";
import { type Outcome, rewardOf } from "./outcome.js";
import { ARMS, evidenceOf, FADING, type Fading, SLOWEST_FADING } from "./posterior.js";
import { randomFor } from "./random.js";
import { type ProblemSink, ReportOnce } from "./report-once.js";

/** Options of `createBandit`. */
export interface BanditOptions {
  /** Where evidence is stored and shared. */
  readonly records: Records;
  /** The same seed, evidence and number of draws give the same choices. */
  readonly seed: string | number;
  /** How fast evidence fades. Default: `FADING`. */
  readonly fading?: Maybe<Partial<Fading>>;
  /** Called once for each: unreadable evidence, a failing store. */
  readonly onProblem?: Maybe<ProblemSink>;
}

/** The bandit for the links of one context: a `chooser` for `connect`. */
export interface LinkBandit {
  choose(feasible: readonly string[]): Promise<string>;
  learn(protocol: string, outcome: Outcome): Promise<void>;
}

/** Selects among feasible protocols by the outcomes of earlier calls. It never makes a protocol feasible. */
export interface Bandit {
  /** Returns one of `feasible`, as written there. */
  choose(feasible: readonly string[], context: string): Promise<string>;
  /** Resolves when the outcome is stored. */
  learn(context: string, protocol: string, outcome: Outcome): Promise<void>;
  /** What was learned in a context, by protocol id: faded outcomes for and against it. */
  state(context: string): Promise<ReadonlyMap<string, { readonly good: number; readonly bad: number }>>;
  /** Both for the links of one context. */
  on(context: string): LinkBandit;
  /** Writes everything learned so far. Call it before closing the store. */
  settled(): Promise<void>;
}

/** The longest name of a protocol. */
export const PROTOCOL_CHARACTERS = 64;

/** Thompson sampling: each protocol draws from its posterior, and the highest draw wins. */
export function createBandit({ records, seed, fading, onProblem }: BanditOptions): Bandit {
  const factors = checkedFading({ ...FADING, ...fading });
  const store = new EvidenceStore(records, factors, new ReportOnce(onProblem));

  async function choose(feasible: readonly string[], context: string): Promise<string> {
    const [first] = checkedFeasible(feasible);
    if (feasible.every((each) => armOf(each) === armOf(first))) return first;
    const key = boundedContext(context);
    const [posterior, draw] = await Promise.all([store.read(key), store.nextDraw()]);
    const drawn = feasible.map((protocol) => {
      const arm = armOf(protocol);
      const { good, bad } = evidenceOf(posterior, arm);
      // Each protocol has its own random stream: the other candidates and their order change no draw.
      return { protocol, arm, luck: drawBeta(randomFor([String(seed), key, String(draw), arm]), 1 + good, 1 + bad) };
    });
    return drawn.reduce((best, each) => (each.luck > best.luck || (each.luck === best.luck && each.arm < best.arm) ? each : best))
      .protocol;
  }

  async function learn(context: string, protocol: string, outcome: Outcome): Promise<void> {
    checkName(protocol);
    await store.add(boundedContext(context), { protocol: armOf(protocol), reward: rewardOf(outcome) });
  }

  return {
    choose,
    learn,
    state: (context) => store.read(boundedContext(context)),
    on: (context) => ({
      choose: (feasible) => choose(feasible, context),
      learn: (protocol, outcome) => learn(context, protocol, outcome),
    }),
    settled: () => store.settled(),
  };
}

/** Case-insensitive: decisions write names, links write ids. */
function armOf(protocol: string): string {
  return protocol.toLowerCase();
}

function checkedFeasible(feasible: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = feasible;
  if (first === undefined) throw new AgentError("unsupported", "no feasible protocol to choose from", { sent: "no" });
  if (feasible.length > ARMS)
    throw new AgentError("too_large", `at most ${ARMS} protocols can be chosen from`, { field: "feasible" });
  feasible.forEach(checkName);
  return [first, ...others];
}

function checkName(protocol: string): void {
  if (typeof protocol === "string" && protocol !== "" && protocol.length <= PROTOCOL_CHARACTERS) return;
  const why = `a protocol has a name of at most ${PROTOCOL_CHARACTERS} characters`;
  throw new AgentError("invalid_message", why, { field: "protocol" });
}

function checkedFading({ tried, others }: Fading): Fading {
  if (!(tried > 0 && tried <= SLOWEST_FADING)) throw notAFactor("tried", SLOWEST_FADING);
  if (!(others > 0 && others <= 1)) throw notAFactor("others", 1);
  return { tried, others };
}

function notAFactor(name: string, most: number): AgentError {
  const field = `fading.${name}`;
  return new AgentError("invalid_message", `${field} must be above 0 and at most ${most}`, { field });
}
