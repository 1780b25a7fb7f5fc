/**
 * What the answering side says beside the answer: activated extensions, Retry-After, a run id. It rides on the first
 * event, so that retry and hedge keep only the winner's.
 */
export interface Head {
  readonly [name: string]: string;
}
export const NO_HEAD: Head = Object.freeze({});
