/**
 * The Koine extensions of A2A 1.0, by their URIs on the card. None is required. Each is removed once A2A defines an equivalent.
 */

/** Resumes an interrupted stream after the last received event. */
export const RESUME_URI = "urn:koine:resume:1";
/** A repeated idempotency key does not start a second task, within `windowSeconds`. */
export const IDEMPOTENT_SEND_URI = "urn:koine:idempotent-send:1";
/**
 * A push configuration reports the delivery state of its webhook in a member `delivery`: in the JSON forms only, and only for
 * callers that request this URI, because strict readers reject unknown members.
 */
export const PUSH_DELIVERY_URI = "urn:koine:push-delivery:1";
