/** ③ The layers: what happens to a call on its way, the same on client, server and gateway. */
export { type Around, around, type Outcome, type Shape } from "./around.js";
export { checkAnswers } from "./check-answers.js";
export { type Clock, type FakeClock, fakeClock, systemClock } from "./clock.js";
export { deadline } from "./deadline.js";
export { type LinkedCancel, linkedCancel } from "./linked-cancel.js";
export { limitOpenStreams, type OpenStreamLimits } from "./open-streams.js";
export { type ResumeOptions, resumeStreams } from "./resume-streams.js";
export { stack } from "./stack.js";
export { stopIterator } from "./stop-iterator.js";
export { type IterationWatch, watchIterable } from "./watch-iterable.js";
