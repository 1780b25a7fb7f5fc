import type { Tool } from "@modelcontextprotocol/server";
import { AgentError, type Maybe, type Skill } from "../../src/index.js";
import { type AgentSource, CachedAgent, type Keeping } from "./cached-agent.js";
import { within } from "./clock.js";
import { LIMITS } from "./limits.js";
import { toolDefinition } from "./tool-definition.js";
import { NameBook } from "./tool-names.js";

export interface RosterOptions extends Omit<Keeping, "onLook"> {
  readonly agents: readonly AgentSource[];
  readonly gateways: readonly string[];
  /** The addresses of all agents of a gateway. */
  list(gateway: string): Promise<readonly string[]>;
  /** One tool for each skill of an agent that has several. */
  readonly perSkill: boolean;
  /** Names that no agent may take. */
  readonly reserved: readonly string[];
  /** The tools are others than before. */
  onChange(): void;
  /** A sentence for whoever runs this. */
  say(sentence: string): void;
}

/** A tool, and the agent behind it. */
export interface AgentTool {
  readonly definition: Tool;
  readonly agent: CachedAgent;
  /** The id of the skill that is asked for. */
  readonly intent: Maybe<string>;
}

/** Somebody who was never reached, and why. */
export interface Missing {
  /** Without its query: some put a key there. */
  readonly address: string;
  readonly problem: AgentError;
}

interface Gateway {
  readonly url: string;
  /** Undefined until it was read once. */
  agents: Maybe<readonly string[]>;
  problem: Maybe<AgentError>;
}

/** All agents there are, as the tools they make. */
export class Roster {
  readonly #options: RosterOptions;
  readonly #names: NameBook;
  readonly #gateways: readonly Gateway[];
  readonly #kept = new Map<string, CachedAgent>();
  #tools = new Map<string, AgentTool>();
  /** The problem that was told last, by address. */
  readonly #said = new Map<string, string>();
  #shown = "";
  #started = false;
  #closed = false;
  #stopListing: () => void = () => undefined;

  constructor(options: RosterOptions) {
    this.#options = options;
    this.#names = new NameBook(options.reserved);
    this.#gateways = options.gateways.map((url) => ({ url, agents: undefined, problem: undefined }));
  }

  /** Looks for everybody; resolves when each was found or not, or when the time for that is over. */
  async start(): Promise<void> {
    const { clock, agents } = this.#options;
    const all = Promise.all([...agents.map((source) => this.#keep(source)), this.#readGateways()]);
    await within(LIMITS.startMs, all, clock);
    // Names are given in the order of the command line, not in that of the answers.
    this.#started = true;
    this.#renew();
  }

  get tools(): ReadonlyMap<string, AgentTool> {
    return this.#tools;
  }

  get missing(): readonly Missing[] {
    const unread = this.#gateways.map(({ url, problem }) => ({ address: url, problem }));
    const unreached = Array.from(this.#kept.values(), ({ source, peer, problem }) => ({
      address: source.url,
      problem: peer === undefined ? (problem ?? lookedFor(source.url)) : undefined,
    }));
    return [...unread, ...unreached].flatMap(({ address, problem }) =>
      problem === undefined ? [] : [{ address: withoutQuery(address), problem }],
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListing();
    await Promise.all(Array.from(this.#kept.values(), (agent) => agent.close()));
  }

  /** Resolves after the first look. */
  async #keep(source: AgentSource): Promise<void> {
    if (this.#closed || this.#kept.has(source.url)) return;
    if (this.#kept.size >= LIMITS.agents) {
      this.#options.say(`${source.url} is left out: there are ${LIMITS.agents} agents already`);
      return;
    }
    const agent = new CachedAgent(source, { ...this.#options, onLook: (looked) => this.#looked(looked) });
    this.#kept.set(source.url, agent);
    await agent.look();
  }

  /** Reads what each gateway lists, takes in who is new and lets go of who is gone. */
  async #readGateways(): Promise<void> {
    if (this.#gateways.length === 0) return;
    await Promise.all(this.#gateways.map((gateway) => this.#readGateway(gateway)));
    if (this.#closed) return;
    const unread = this.#gateways.some(({ problem }) => problem !== undefined);
    const pause = unread ? LIMITS.listRetryMs : this.#options.refreshMs;
    this.#stopListing = this.#options.clock.after(pause, () => void this.#readGateways());
  }

  async #readGateway(gateway: Gateway): Promise<void> {
    try {
      const listed = await this.#options.list(gateway.url);
      const gone = (gateway.agents ?? []).filter((url) => !listed.includes(url));
      gateway.agents = listed;
      gateway.problem = undefined;
      await Promise.all(gone.map((url) => this.#drop(url)));
      await Promise.all(listed.map((url) => this.#keep({ url })));
    } catch (thrown) {
      gateway.problem = AgentError.from(thrown);
    }
    this.#sayOf(gateway.url, gateway.problem);
    this.#renew();
  }

  async #drop(url: string): Promise<void> {
    const named = this.#options.agents.some((source) => source.url === url);
    const listed = this.#gateways.some(({ agents = [] }) => agents.includes(url));
    if (named || listed) return;
    const agent = this.#kept.get(url);
    this.#kept.delete(url);
    this.#said.delete(url);
    await agent?.close();
  }

  #looked({ source, problem }: CachedAgent): void {
    this.#sayOf(source.url, problem);
    this.#renew();
  }

  /** Each problem once, and its end: tries that fail again and again are no news. */
  #sayOf(url: string, problem: Maybe<AgentError>): void {
    const before = this.#said.get(url);
    if (before === problem?.message) return;
    if (problem === undefined) this.#said.delete(url);
    else this.#said.set(url, problem.message);
    this.#options.say(`${withoutQuery(url)}: ${problem?.message ?? "it answers again"}`);
  }

  /** Makes the tools anew out of the cards, and tells when they are others than before. */
  #renew(): void {
    if (!this.#started || this.#closed) return;
    const made = Array.from(this.#kept.values()).flatMap((agent) => this.#toolsOf(agent));
    if (made.length > LIMITS.tools)
      this.#options.say(`${made.length - LIMITS.tools} tools are left out: ${LIMITS.tools} are shown`);
    this.#tools = new Map(made.slice(0, LIMITS.tools).map((tool) => [tool.definition.name, tool]));
    const shown = JSON.stringify([this.missing.length > 0, ...Array.from(this.#tools.values(), ({ definition }) => definition)]);
    // The first tools are no change: whoever asks for them waits until they are there.
    const isChange = this.#shown !== "" && shown !== this.#shown;
    this.#shown = shown;
    if (isChange) this.#options.onChange();
  }

  #toolsOf(agent: CachedAgent): readonly AgentTool[] {
    const { source, peer } = agent;
    if (peer === undefined) return [];
    const { card } = peer;
    const skills: readonly Maybe<Skill>[] = this.#options.perSkill && card.skills.length > 1 ? card.skills : [undefined];
    const wanted = source.name ?? card.name;
    return skills.map((skill) => {
      const key = JSON.stringify([source.url, skill?.id]);
      const name = this.#names.nameFor(key, skill === undefined ? wanted : `${wanted}_${skill.id}`);
      return { definition: toolDefinition(name, card, skill), agent, intent: skill?.id };
    });
  }
}

function withoutQuery(address: string): string {
  return address.split(/[?#]/, 1)[0] ?? address;
}

function lookedFor(url: string): AgentError {
  return new AgentError("unavailable", `${url} has not answered yet`);
}
