import type { Tool } from "@modelcontextprotocol/server";
import { AgentError, type Maybe, type Skill } from "../../src/index.js";
import { type AgentSource, CachedAgent, type CachedAgentOptions } from "./cached-agent.js";
import { within } from "./clock.js";
import { LIMITS } from "./limits.js";
import { toolDefinition } from "./tool-definition.js";
import { UniqueNames } from "./tool-names.js";

export interface ToolRegistryOptions extends Omit<CachedAgentOptions, "onRefresh"> {
  readonly agents: readonly AgentSource[];
  readonly gateways: readonly string[];
  /** The URLs of all agents of a gateway. */
  list(gateway: string): Promise<readonly string[]>;
  /** Create one tool per skill for agents with several skills. */
  readonly perSkill: boolean;
  /** Tool names that agents must not use. */
  readonly reserved: readonly string[];
  /** Called when the tools changed. */
  onChange(): void;
  /** Called with messages for the operator. */
  notify(message: string): void;
}

/** A tool and its agent. */
export interface AgentTool {
  readonly definition: Tool;
  readonly agent: CachedAgent;
  /** Id of the requested skill. */
  readonly intent: Maybe<string>;
}

/** An agent or gateway that was never reached, and why. */
export interface MissingAgent {
  /** Without the query, which may hold a key. */
  readonly address: string;
  readonly problem: AgentError;
}

interface Gateway {
  readonly url: string;
  /** Undefined until the first successful read. */
  agents: Maybe<readonly string[]>;
  problem: Maybe<AgentError>;
}

/** Maintains the tools of all configured agents and gateways. */
export class ToolRegistry {
  readonly #options: ToolRegistryOptions;
  readonly #names: UniqueNames;
  readonly #gateways: readonly Gateway[];
  readonly #agents = new Map<string, CachedAgent>();
  #tools = new Map<string, AgentTool>();
  /** The last reported problem by URL. */
  readonly #reported = new Map<string, string>();
  #shown = "";
  #started = false;
  #closed = false;
  #stopListing: () => void = () => undefined;

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
    this.#names = new UniqueNames(options.reserved);
    this.#gateways = options.gateways.map((url) => ({ url, agents: undefined, problem: undefined }));
  }

  /** Connects to all agents; resolves when each attempt has finished, or on timeout. */
  async start(): Promise<void> {
    const { clock, agents } = this.#options;
    const all = Promise.all([...agents.map((source) => this.#add(source)), this.#readGateways()]);
    await within(LIMITS.startMs, all, clock);
    // Names are assigned in command line order, not in order of response.
    this.#started = true;
    this.#update();
  }

  get tools(): ReadonlyMap<string, AgentTool> {
    return this.#tools;
  }

  get missing(): readonly MissingAgent[] {
    const unread = this.#gateways.map(({ url, problem }) => ({ address: url, problem }));
    const unresolved = Array.from(this.#agents.values(), ({ source, peer, problem }) => ({
      address: source.url,
      problem: peer === undefined ? (problem ?? notResolved(source.url)) : undefined,
    }));
    return [...unread, ...unresolved].flatMap(({ address, problem }) =>
      problem === undefined ? [] : [{ address: withoutQuery(address), problem }],
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListing();
    await Promise.all(Array.from(this.#agents.values(), (agent) => agent.close()));
  }

  /** Resolves after the first attempt. */
  async #add(source: AgentSource): Promise<void> {
    if (this.#closed || this.#agents.has(source.url)) return;
    if (this.#agents.size >= LIMITS.agents) {
      this.#options.notify(`${source.url} ignored: the limit of ${LIMITS.agents} agents is reached`);
      return;
    }
    const agent = new CachedAgent(source, { ...this.#options, onRefresh: (refreshed) => this.#refreshed(refreshed) });
    this.#agents.set(source.url, agent);
    await agent.refresh();
  }

  /** Reads the agent list of each gateway, adds new agents and removes old ones. */
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
      await Promise.all(listed.map((url) => this.#add({ url })));
    } catch (thrown) {
      gateway.problem = AgentError.from(thrown);
    }
    this.#report(gateway.url, gateway.problem);
    this.#update();
  }

  async #drop(url: string): Promise<void> {
    const named = this.#options.agents.some((source) => source.url === url);
    const listed = this.#gateways.some(({ agents = [] }) => agents.includes(url));
    if (named || listed) return;
    const agent = this.#agents.get(url);
    this.#agents.delete(url);
    this.#reported.delete(url);
    await agent?.close();
  }

  #refreshed({ source, problem }: CachedAgent): void {
    this.#report(source.url, problem);
    this.#update();
  }

  /** Reports each problem once, and its end. */
  #report(url: string, problem: Maybe<AgentError>): void {
    const before = this.#reported.get(url);
    if (before === problem?.message) return;
    if (problem === undefined) this.#reported.delete(url);
    else this.#reported.set(url, problem.message);
    this.#options.notify(`${withoutQuery(url)}: ${problem?.message ?? "connected"}`);
  }

  /** Rebuilds the tools from the cards, and reports changes. */
  #update(): void {
    if (!this.#started || this.#closed) return;
    const made = Array.from(this.#agents.values()).flatMap((agent) => this.#toolsOf(agent));
    if (made.length > LIMITS.tools)
      this.#options.notify(`${made.length - LIMITS.tools} tools omitted: the limit of ${LIMITS.tools} tools is reached`);
    this.#tools = new Map(made.slice(0, LIMITS.tools).map((tool) => [tool.definition.name, tool]));
    const shown = JSON.stringify([this.missing.length > 0, ...Array.from(this.#tools.values(), ({ definition }) => definition)]);
    // The initial tools are not a change: the first list request waits for them.
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

function notResolved(url: string): AgentError {
  return new AgentError("unavailable", `${url} has not responded yet`);
}
