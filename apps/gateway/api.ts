import type { AdminAddress, Card, Interface, Maybe, Store } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import type { Console } from "../dashboard/index.js";
import type { GatewayConfig } from "./config.js";
import type { AgentLosses } from "./losses.js";
import type { AgentStatus } from "./status.js";

type Security = Card["security"];

/** Optional dependencies of a gateway. */
export interface GatewayDeps {
  /** The time source. Default: the system clock. */
  readonly clock?: Clock;
  /** A number from 0 up to 1, for retry jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Creates ids. Default: random ids. */
  readonly newId?: () => string;
  /** Called with one-line messages for the operator. */
  readonly notify?: (line: string) => void;
  /** Called with internal errors. */
  readonly onError?: (thrown: unknown) => void;
  /** Used instead of the store of the configuration. It stays open. */
  readonly store?: Store;
  /** Fail to start when an upstream is unreachable, instead of reporting it as down. */
  readonly requireUpstreams?: boolean;
}

/** The agents that a reload added, changed, removed and kept. */
export interface ReloadReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Unchanged; their connections stay open. */
  readonly kept: readonly string[];
  readonly warnings: readonly string[];
}

/** A running gateway: serves upstream agents on one port, in every protocol. */
export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** Dashboard URL with its access token; undefined when the page is off. */
  readonly pageUrl: Maybe<string>;
  /** The operator's listener and its token; undefined when it is off. */
  readonly admin: Maybe<AdminAddress>;
  readonly durability: string;
  /** Description of the accepted callers. */
  readonly callers: string;
  /** Security schemes as published in agent cards. */
  readonly security: Security;
  readonly warnings: readonly string[];
  agents(): readonly AgentStatus[];
  /** Interfaces of one agent, preferred first. */
  interfaces(agent: string): readonly Interface[];
  /** Translation losses since the start, by agent. */
  losses(): readonly AgentLosses[];
  /** Applies a new configuration without interrupting streams. Throws without changing anything if it is rejected. */
  reload(config: GatewayConfig): Promise<ReloadReport>;
  readonly console: Console;
  close(): Promise<void>;
}
