/** The protocol contract and the registered protocols. */

export type { Link } from "../transport/exchange.js";
export { protocols } from "./all.js";
export { type ClientParts, createClientContext } from "./client-context.js";
export { type Deployment, type DeploymentName, type DeploymentRow, type Deployments, deploymentRows } from "./deployment.js";
export { type ExtraRoute, type Front, type FrontObserver, front } from "./front.js";
export { createHost, type FrontHost, type HostParts } from "./host.js";
export { MessageInbox } from "./inbox.js";
export type { Outgoing, OutgoingStart } from "./outgoing.js";
export type {
  CallBegin,
  Client,
  ClientContext,
  ClientInbox,
  CommandOption,
  CommandOutput,
  CommandTools,
  Contribution,
  DeclaredLoss,
  DidMethod,
  DidService,
  DiscoveryContext,
  FetchUrl,
  Finding,
  Host,
  IdSource,
  Inbox,
  Notice,
  Peer,
  Protocol,
  ProtocolCommand,
  ProtocolContext,
  ReadNotice,
  Route,
  SampleCall,
  SendCodec,
  Served,
  SettingInfo,
  Traits,
} from "./protocol.js";
export type { RelayedPeer } from "./relayed-peer.js";
export { Replies } from "./replies.js";
export { selectInterfaces, withoutBinding } from "./select-interfaces.js";
export type { IntakeObserver } from "./session-intake.js";
export { tlsProtection } from "./tls-protection.js";
