/** Several scenarios in one folder, with one report. */
export { ROUTER_PART } from "./read-parts.js";
export { writeSuiteReport } from "./report.js";
export {
  beginSuite,
  endSuite,
  isSuiteFolder,
  readSuite,
  type Suite,
  type SuiteChoice,
  type SuitePart,
  type SuiteStatus,
  statusOf,
  withPart,
  writeSuite,
} from "./suite.js";
export { verifySuiteFolder } from "./verify.js";
