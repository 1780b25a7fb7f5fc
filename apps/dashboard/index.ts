/** The dashboard: its routes, and the interface its host must implement. */
export type {
  BreakerState,
  Console,
  LinkState,
  NetworkEvent,
  NetworkState,
  NodeAction,
  NodeState,
  PageMessage,
  QueueState,
  TaskLine,
} from "./console.js";
export { type DashboardOptions, dashboardRoutes } from "./routes.js";
