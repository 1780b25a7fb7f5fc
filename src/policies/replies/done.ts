/** What every iterator says once it is over. */
export const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });
