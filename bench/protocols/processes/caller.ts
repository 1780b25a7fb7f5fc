/** The caller process of the benchmark. */
import { runCallerProcess } from "./caller-process.js";

runCallerProcess();
