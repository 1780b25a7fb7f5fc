import { AgentError, type Maybe, type Records } from "../../envelope/index.js";
import { boundedContext } from "./context-key.js";
import { drawBeta } from "./draw-beta.js";
import { EvidenceStore } from "./evidence-store.js";
import { type Outcome, rewardOf } from "./outcome.js";
import { ARMS, evidenceOf, FADING, type Fading, SLOWEST_FADING } from "./posterior.js";
import { randomFor } from "./random.js";
import { type ProblemSink, TellOnce } from "./tell-once.js";

export interface BanditOptions {
  /** Where evidence is kept: it lasts as long as they do, and is shared by all who share them. */
  readonly records: Records;
  /** The same seed, evidence and number of draws give the same choices. */
  readonly seed: string | number;
  readonly fading?: Maybe<Partial<Fading>>;
  /** Hears, once each, of evidence that cannot be read and of a store that fails. */
  readonly onProblem?: Maybe<ProblemSink>;
}

/** What chooses for the links of one context and hears how it went: fits `connect`'s `chooser`. */
export interface LinkBandit {
  choose(feasible: readonly string[]): Promise<string>;
  learn(protocol: string, outcome: Outcome): Promise<void>;
}

/** Chooses among protocols that are all feasible by how calls went before. It makes nothing feasible that is not. */
export interface Bandit {
  /** One of `feasible`, as it is written there. */
  choose(feasible: readonly string[], context: string): Promise<string>;
  /** Resolves when it is kept. */
  learn(context: string, protocol: string, outcome: Outcome): Promise<void>;
  /** Both for the links of one context. */
  on(context: string): LinkBandit;
  /** Everything learned so far is kept; before its store is closed. */
  settled(): Promise<void>;
}

/** The longest name of a protocol. */
export const PROTOCOL_CHARACTERS = 64;

/** Thompson sampling: each protocol draws from what is known of it, and the highest draw is taken. */
export function createBandit({ records, seed, fading, onProblem }: BanditOptions): Bandit {
  const factors = checkedFading({ ...FADING, ...fading });
  const store = new EvidenceStore(records, factors, new TellOnce(onProblem));

  async function choose(feasible: readonly string[], context: string): Promise<string> {
    const [first] = checkedFeasible(feasible);
    if (feasible.every((each) => armOf(each) === armOf(first))) return first;
    const key = boundedContext(context);
    const [posterior, draw] = await Promise.all([store.read(key), store.nextDraw()]);
    const drawn = feasible.map((protocol) => {
      const arm = armOf(protocol);
      const { good, bad } = evidenceOf(posterior, arm);
      // Chance of its own for each protocol: who else is feasible, and in which order, changes no draw.
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
    on: (context) => ({
      choose: (feasible) => choose(feasible, context),
      learn: (protocol, outcome) => learn(context, protocol, outcome),
    }),
    settled: () => store.settled(),
  };
}

/** However it is capitalised: decisions write names, links write ids. */
function armOf(protocol: string): string {
  return protocol.toLowerCase();
}

function checkedFeasible(feasible: readonly string[]): readonly [string, ...string[]] {
  const [first, ...others] = feasible;
  if (first === undefined) throw new AgentError("unsupported", "no protocol is feasible, so none can be chosen", { sent: "no" });
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
