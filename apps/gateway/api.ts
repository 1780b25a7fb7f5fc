import type { Card, Interface, Maybe } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import type { Console } from "../dashboard/index.js";
import type { GatewayConfig } from "./config.js";
import type { AgentLosses } from "./losses.js";
import type { AgentStatus } from "./status.js";

type Security = Card["security"];

export interface GatewayDeps {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly newId?: () => string;
  /** Hears, in sentences, what an operator should know while it runs. */
  readonly tell?: (line: string) => void;
  /** Hears what went wrong inside. */
  readonly onError?: (thrown: unknown) => void;
  /** An upstream that cannot be reached at the start is an error, and not only shown as down. */
  readonly requireUpstreams?: boolean;
}

/** What a reload did. Everything that is not named here stayed as it was. */
export interface ReloadReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Reached by the same connections as before. */
  readonly kept: readonly string[];
  readonly warnings: readonly string[];
}

/** Agents of others, on one port, in every protocol. */
export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** The page, with what lets it act; undefined where there is none. */
  readonly pageUrl: Maybe<string>;
  readonly durability: string;
  /** Who may call, in words. */
  readonly callers: string;
  /** The same as cards say it. */
  readonly security: Security;
  readonly warnings: readonly string[];
  agents(): readonly AgentStatus[];
  /** Where one agent answers, the best first. */
  interfaces(agent: string): readonly Interface[];
  /** What could not be carried since the start, agent by agent. */
  losses(): readonly AgentLosses[];
  /** Takes another configuration into use. Streams go on. Throws, and then nothing has changed. */
  reload(config: GatewayConfig): Promise<ReloadReport>;
  readonly console: Console;
  close(): Promise<void>;
}
