/** The protocol contract and the registered protocols. */

export type { Link } from "../transport/exchange.js";
export { protocols } from "./all.js";
export { type ExtraRoute, type Front, front } from "./front.js";
export { createHost, type HostParts } from "./host.js";
export type {
  CommandTools,
  Contribution,
  DeclaredLoss,
  Finding,
  Host,
  IdSource,
  Notice,
  Peer,
  Protocol,
  ProtocolCommand,
  ReadNotice,
  Route,
  SampleCall,
  SendCodec,
  Served,
  SettingInfo,
  Traits,
} from "./protocol.js";
export { selectInterfaces } from "./select-interfaces.js";
