/** An agent process of the benchmark: one listener for each of its agents, one handler, one model. */
import { BEHAVIOURS } from "../behaviours/index.js";
import { runAgentProcess } from "./agent-process.js";

runAgentProcess(BEHAVIOURS);
