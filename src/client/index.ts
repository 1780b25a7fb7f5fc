/** Calls other agents: discovery, choice of interface, credentials, connection. */
export type { AddressBook, EdgeOptions, PeerAddress } from "./address-book.js";
export type { CallOutcome } from "./call-outcomes.js";
export type { ProtocolChooser } from "./choose-protocol.js";
export { connect, type RemoteAgent } from "./connect.js";
export { type ClientCredentials, type Credentials, credentialHeaders } from "./credentials.js";
export { NoProtocolError } from "./discovery.js";
export { DEFAULT_DISCOVERY_CACHE_LIMITS, DiscoveryCache, type DiscoveryCacheLimits } from "./discovery-cache.js";
export { type FloorFields, type FloorOptions, FloorRules, type Opening } from "./floor-rules.js";
export type { LargePartOptions } from "./large-parts.js";
export type { Shares } from "./pick-interface.js";
export { type PushReceiver, type PushReceiverOptions, pushReceiver } from "./push-receiver.js";
export { type AgentClient, agentClient, type SendOptions, textOfAnswer, type Webhook } from "./remote-agent.js";
export type { ConnectOptions } from "./resolve-peer.js";
