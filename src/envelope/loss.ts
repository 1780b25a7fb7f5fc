/** Something a protocol could not carry. Never silent: it is handed to the call, counted, traced and shown. */
export interface Loss {
  readonly protocol: string;
  /** Where in the neutral model: `message.parts[0].name`. */
  readonly path: string;
  readonly valueKind: string;
  readonly reason: string;
}
/** Codecs are pure; what they lose they say to a sink given to them. */
export type LossSink = (loss: Loss) => void;
