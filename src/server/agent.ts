import { type AddressBook, createAddressBook, type EdgeOptions, type PeerAddress } from "../client/address-book.js";
import type {
  Awaitable,
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
  Requirement,
  Skill,
} from "../envelope/index.js";
import type { RelayedPeer } from "../protocols/index.js";
import type { AgentFunction } from "../tasks/index.js";

/** A skill of an agent. Its own function, if any, handles messages that name the skill as their intent. */
export interface AgentSkill extends Skill {
  /** Handles messages with this skill as their intent. Default: the agent's `handle`. */
  readonly handle?: AgentFunction;
}

/** What an agent is made from. */
export interface AgentOptions {
  /** Unique among the agents of one host; part of addresses, so letters, digits, dots, dashes and underscores. */
  readonly name: string;
  /** What the agent does, for its card. */
  readonly description: string;
  /** Handles a message. */
  readonly handle: AgentFunction;
  /** The agent's version on its card. Default: `1.0.0`. */
  readonly version?: string;
  /** Skills on the card, each optionally with a handler of its own. Default: one with the agent's name. */
  readonly skills?: readonly AgentSkill[];
  /** Accepted media types; messages with others are rejected. Default: all are accepted. */
  readonly inputModes?: readonly string[];
  /** Media types of answers, for the card. Default: plain text and JSON. */
  readonly outputModes?: readonly string[];
  /** The organisation on the card. Default: none. */
  readonly provider?: Card["provider"];
  /** The documentation link on the card. Default: none. */
  readonly documentationUrl?: string;
  /** The icon link on the card. Default: none. */
  readonly iconUrl?: string;
  /** Protocol extensions the agent supports. Default: none. */
  readonly extensions?: readonly Extension[];
  /** A run whose process ended may be started again: at least once instead of at most once. */
  readonly restartable?: boolean;
  /** What an authenticated caller sees beyond the public card. Undefined: this caller gets none. */
  readonly extendedCard?: (caller: Principal) => Maybe<Partial<Omit<Card, "name" | "interfaces">>>;
  /** Agents this one calls by name: a URL, or a URL with its own protocol and credentials. */
  readonly peers?: { readonly [id: string]: string | PeerAddress };
  /** How it calls its peers. */
  readonly edges?: EdgeOptions;
  /** The security that callers must bring; others are refused. Default: none. */
  readonly require?: readonly Requirement[];
}

/** Whether an agent can answer. */
export interface AgentHealth {
  /** False: its callers are told that this server is unavailable. */
  readonly usable: boolean;
  /** What is wrong, one sentence each, for operators only. */
  readonly problems: readonly string[];
}

/** A function with a card and an address book. Served by `serve` or `mount`, in every protocol at once. */
export interface Agent extends AddressBook {
  /** The agent's name. */
  readonly name: string;
  /** Its card, without addresses. */
  readonly card: Card;
  /** The function that answers messages. */
  readonly handle: AgentFunction;
  /** Whether interrupted runs may be started again. */
  readonly restartable: boolean;
  /** Whether every media type is accepted. */
  readonly acceptsEverything: boolean;
  /** Whether `extendedCard` returns a card for some callers. */
  readonly hasExtendedCard: boolean;
  /** `served` is the public card as its host serves it; the extended card adds to it. */
  extendedCard(caller: Principal, served?: Card): Maybe<Card>;
  /** Answers an operation before the task runtime; undefined passes it on to the runtime. */
  answers?(operation: Operation, call: Call): Maybe<Reply>;
  /** Cancels work at an upstream, by the state stored with its task. */
  cancel?(saved: Json, call: Call): Promise<void>;
  /** Answers a request about a task at an upstream, if its author proved it for the upstream. Undefined: it is answered by the runtime. */
  forward?(operation: OperationOf<"task.get" | "task.cancel" | "task.subscribe">, saved: Json, call: Call): Maybe<Reply>;
  /** The initial metadata of a new task. */
  taskMetadata?(operation: OperationOf<"send">): Maybe<Metadata>;
  /** Called for what could not be translated between a caller and this agent. */
  onLoss?(loss: Loss): void;
  /** Calls carry the callers' credentials, because they are forwarded to an upstream. */
  readonly sendsCredentialsOn?: Maybe<boolean>;
  /** The security that callers must bring. */
  readonly require?: Maybe<readonly Requirement[]>;
  /** Downgrades compared to its upstream, one sentence each; the host audits them. */
  readonly downgrades?: Maybe<readonly string[]>;
  /** Whether it can answer now. Asked for each health check, until the signal aborts. Absent: it always can. */
  health?(signal: AbortSignal): Awaitable<AgentHealth>;
  /** The peer that it relays to, if sealed sessions may be passed on to it unopened. */
  relayed?(): Maybe<RelayedPeer>;
  /** The addresses of its upstream: a host that listens there itself would call itself. */
  readonly upstreamUrls?: Maybe<readonly string[]>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DEFAULT_MODES = ["text/plain", "application/json"] as const;

/** Makes an agent from a function. Starts nothing and opens no port. */
export function agent(options: AgentOptions): Agent {
  if (!NAME.test(options.name)) {
    throw new TypeError(
      `invalid agent name ${JSON.stringify(options.name)}: use letters, digits, dots, dashes and underscores, at most 64`,
    );
  }
  const card = cardOf(options);
  const { extendedCard } = options;
  const handle = dispatchByIntent(options);
  return {
    name: options.name,
    card,
    handle,
    restartable: options.restartable ?? false,
    require: options.require,
    acceptsEverything: options.inputModes === undefined,
    hasExtendedCard: extendedCard !== undefined,
    extendedCard(caller, served = card) {
      const more = extendedCard?.(caller);
      if (more === undefined) return undefined;
      // Push is a capability of the host, on every card.
      const { push, extended } = served.capabilities;
      return { ...served, ...more, capabilities: { ...served.capabilities, ...more.capabilities, push, extended } };
    },
    ...createAddressBook({ ...options, handle }),
  };
}

/** The skill's own function where the message's intent is a skill that has one, else the agent's. */
function dispatchByIntent({ handle, skills = [] }: AgentOptions): AgentFunction {
  const own = new Map<string, AgentFunction>();
  for (const { id, handle: skillHandle } of skills) {
    if (skillHandle === undefined) continue;
    if (own.has(id)) throw new TypeError(`duplicate skill id ${JSON.stringify(id)}`);
    own.set(id, skillHandle);
  }
  return own.size === 0 ? handle : (message, task) => (own.get(message.intent) ?? handle)(message, task);
}

/** The public part of a skill. */
function publicSkill({ handle: _handle, ...skill }: AgentSkill): Skill {
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
    skills: options.skills?.map(publicSkill) ?? [
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
