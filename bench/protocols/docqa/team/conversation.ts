import type { Team, TeamAgent, TeamStep, ToolCall } from "../plan/manifest.js";
import type { FactValue } from "./message.js";

/** What one agent knows about one question. */
export class Conversation {
  readonly team: Team;
  readonly own: TeamAgent;
  readonly #facts = new Map<string, FactValue>();
  /** Of facts that come in several messages: what came so far, in the order in which it came. */
  readonly #parts = new Map<string, string[]>();
  readonly #begun = new Set<number>();

  constructor(team: Team, own: TeamAgent, given: Readonly<Record<string, string>>) {
    this.team = team;
    this.own = own;
    for (const [fact, value] of Object.entries(given)) this.#facts.set(fact, value);
  }

  /** Takes up a fact. One that comes in parts is known when the last part has come. */
  learn(fact: string, value: FactValue, { last, several }: { readonly last: boolean; readonly several: boolean }): void {
    if (!several) return void this.#facts.set(fact, value);
    const parts = this.#parts.get(fact) ?? [];
    parts.push(...[value].flat());
    this.#parts.set(fact, parts);
    if (last) this.#facts.set(fact, parts);
  }

  /** The steps that can be taken now and have not been begun. */
  take(): readonly TeamStep[] {
    const ready = this.own.steps.filter(
      ({ step, needs }) => !this.#begun.has(step) && needs.every((fact) => this.#facts.has(fact)),
    );
    for (const { step } of ready) this.#begun.add(step);
    return ready;
  }

  get isOver(): boolean {
    return this.#begun.size === this.own.steps.length;
  }

  valueOf(fact: string): FactValue | undefined {
    return this.#facts.get(fact);
  }

  /** The arguments of a call for each item of a list that they name, or once. Lists that are not divided are joined. */
  argumentsOf({ arguments: templates, extract }: ToolCall, perItem: boolean): readonly Filled[] {
    const texts = [...Object.values(templates), extract ?? ""].join(" ");
    const named = [...texts.matchAll(PLACE)].map(([, fact = ""]) => this.#facts.get(fact));
    const lists = perItem ? named.filter(isList) : [];
    const count = lists.length === 0 ? 1 : Math.max(...lists.map(({ length }) => length));
    return Array.from({ length: count }, (_, index) => {
      const fill = (text: string, quote: (value: string) => string = String): string =>
        text.replace(PLACE, (place, fact: string) => {
          const value = this.#facts.get(fact);
          if (value === undefined) return place;
          if (!isList(value)) return quote(value);
          return quote(lists.length === 0 ? value.join(", ") : (value[index] ?? ""));
        });
      return {
        given: Object.fromEntries(Object.entries(templates).map(([name, text]) => [name, name === "code" ? text : fill(text)])),
        extract: extract === undefined ? undefined : new RegExp(fill(extract, escaped), "g"),
      };
    });
  }
}

export interface Filled {
  readonly given: Readonly<Record<string, string>>;
  readonly extract: RegExp | undefined;
}

const PLACE = /\{([a-z]{1,20})\}/g;

function isList(value: FactValue | undefined): value is readonly string[] & string[] {
  return Array.isArray(value);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
