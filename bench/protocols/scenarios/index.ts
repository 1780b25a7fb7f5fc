// One line per scenario, nothing else in this file.
export { docqa } from "./docqa.js";
export { echo } from "./echo.js";
export { failStorm } from "./fail-storm.js";
export { streamingQueue } from "./streaming-queue.js";
