import { type AddressBook, createAddressBook, type PeerAddress } from "../client/address-book.js";
import type { EdgeOptions } from "../client/edge.js";
import type {
  Call,
  Card,
  Extension,
  Json,
  Loss,
  Maybe,
  Metadata,
  Operation,
  OperationOf,
  Principal,
  Reply,
  Skill,
} from "../envelope/index.js";
import type { AgentFunction } from "../tasks/index.js";

/** A skill of an agent; one with a function of its own is answered by it whenever a message names the skill as its intent. */
export interface AgentSkill extends Skill {
  readonly handle?: AgentFunction;
}

export interface AgentOptions {
  /** Unique among the agents of one host; part of addresses, so letters, digits, dots, dashes and underscores. */
  readonly name: string;
  readonly description: string;
  readonly handle: AgentFunction;
  readonly version?: string;
  readonly skills?: readonly AgentSkill[];
  /** Media types it takes. When given, a message with another one is refused; when not, everything is taken. */
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly provider?: Card["provider"];
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly extensions?: readonly Extension[];
  /** A run that lost its process may be started again: then it runs at least once instead of at most once. */
  readonly restartable?: boolean;
  /** What an authenticated caller sees beside the public card. Undefined for a caller that gets none. */
  readonly extendedCard?: (caller: Principal) => Maybe<Partial<Omit<Card, "name" | "interfaces">>>;
  /** Agents this one calls by a short name: a URL, or a URL with protocol and credentials of its own. */
  readonly peers?: { readonly [id: string]: string | PeerAddress };
  /** How it calls them. */
  readonly edges?: EdgeOptions;
}

/** An agent of ours: a function with a card and an address book. Served by `serve` or `mount`, on every protocol at once. */
export interface Agent extends AddressBook {
  readonly name: string;
  readonly card: Card;
  readonly handle: AgentFunction;
  readonly restartable: boolean;
  readonly acceptsEverything: boolean;
  readonly hasExtendedCard: boolean;
  /** `served` is the public card as its host serves it: what the extended one says beyond it is added to that. */
  extendedCard(caller: Principal, served?: Card): Maybe<Card>;
  /** What it answers by itself, before any task runtime; undefined leaves an operation to the runtime. */
  answers?(operation: Operation, call: Call): Maybe<Reply>;
  /** Stops work that is done elsewhere, by what was kept with its task. */
  cancel?(saved: Json, call: Call): Promise<void>;
  /** What a new task of its says about itself. */
  marks?(operation: OperationOf<"send">): Maybe<Metadata>;
  /** Hears of what could not be carried between a caller and this agent. */
  lost?(loss: Loss): void;
  /** Its host hands it what callers showed to get in, because another agent is shown it too. */
  readonly sendsCredentialsOn?: Maybe<boolean>;
  /** What callers get less of than its peer gives, in sentences: its host writes them down. */
  readonly downgrades?: Maybe<readonly string[]>;
  /** The addresses it stands for: a host that answers there itself would call itself. */
  readonly behind?: Maybe<readonly string[]>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DEFAULT_MODES = ["text/plain", "application/json"] as const;

/** Makes an agent out of a function. Nothing runs and no port is opened. */
export function agent(options: AgentOptions): Agent {
  if (!NAME.test(options.name)) {
    throw new TypeError(
      `an agent's name has letters, digits, dots, dashes and underscores, at most 64; ${JSON.stringify(options.name)} has not`,
    );
  }
  const card = cardOf(options);
  const { extendedCard } = options;
  const handle = byIntent(options);
  return {
    name: options.name,
    card,
    handle,
    restartable: options.restartable ?? false,
    acceptsEverything: options.inputModes === undefined,
    hasExtendedCard: extendedCard !== undefined,
    extendedCard(caller, served = card) {
      const more = extendedCard?.(caller);
      if (more === undefined) return undefined;
      // Who is told of events is the host's affair, whoever looks at the card.
      const { push, extended } = served.capabilities;
      return { ...served, ...more, capabilities: { ...served.capabilities, ...more.capabilities, push, extended } };
    },
    ...createAddressBook({ ...options, handle }),
  };
}

/** The skill's own function where the message's intent is a skill that has one, else the agent's. */
function byIntent({ handle, skills = [] }: AgentOptions): AgentFunction {
  const own = new Map<string, AgentFunction>();
  for (const { id, handle: skilled } of skills) {
    if (skilled === undefined) continue;
    if (own.has(id)) throw new TypeError(`two skills with functions of their own are called ${JSON.stringify(id)}`);
    own.set(id, skilled);
  }
  return own.size === 0 ? handle : (message, task) => (own.get(message.intent) ?? handle)(message, task);
}

/** What others see of a skill. */
function shown({ handle: _handle, ...skill }: AgentSkill): Skill {
  return skill;
}

function cardOf(options: AgentOptions): Card {
  const extensions = options.extensions ?? [];
  return {
    name: options.name,
    description: options.description,
    version: options.version ?? "1.0.0",
    provider: options.provider,
    documentationUrl: options.documentationUrl,
    iconUrl: options.iconUrl,
    skills: options.skills?.map(shown) ?? [
      { id: options.name, name: options.name, description: options.description, tags: ["general"] },
    ],
    inputModes: options.inputModes ?? DEFAULT_MODES,
    outputModes: options.outputModes ?? DEFAULT_MODES,
    capabilities: {
      streaming: true,
      push: false,
      extended: options.extendedCard !== undefined,
      idempotentSend: true,
      resume: true,
      extensions,
    },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
}
