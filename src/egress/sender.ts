/** How a request goes to a host, whichever HTTP client carries it. The layers above see only this. */
export type { OutgoingRequest, RequestControl, ResponseReceiver, Sender } from '../http1/client.ts';
