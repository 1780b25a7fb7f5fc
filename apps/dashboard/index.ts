/** The page that shows a network at work: its routes, and what whoever serves it must bring. */
export type {
  BreakerState,
  Console,
  LinkState,
  NetworkEvent,
  NetworkState,
  NodeState,
  PageMessage,
  QueueState,
  TaskLine,
} from "./console.js";
export { type DashboardOptions, dashboardRoutes } from "./routes.js";
