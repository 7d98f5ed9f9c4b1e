/** How a request goes to a host, whichever HTTP client carries it. The layers above see only this. */
export type { AnswerReceiver, OutgoingRequest, RequestControl, Sender } from '../http1/client.ts';
