// One line per scenario, nothing else in this file.
export { echo } from "./echo.js";
export { failStorm } from "./fail-storm.js";
export { streamingQueue } from "./streaming-queue.js";
