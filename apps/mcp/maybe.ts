/** A value that may not be there. */
export type Maybe<T> = T | undefined;
