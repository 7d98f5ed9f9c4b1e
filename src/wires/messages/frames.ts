/** Writes a frame of this wire; clients skip frames without an event name. */
export function frameText(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export const PING = frameText('ping', '{"type": "ping"}');
export const MESSAGE_STOP = frameText('message_stop', '{"type":"message_stop"}');

export function blockStart(index: number, blockJson: string): string {
  return frameText(
    'content_block_start',
    `{"type":"content_block_start","index":${index},"content_block":${blockJson}}`,
  );
}

export function blockDelta(index: number, deltaJson: string): string {
  return frameText('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${deltaJson}}`);
}

export function blockStop(index: number): string {
  return frameText('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
}

export function signatureDelta(index: number, signature: string): string {
  return blockDelta(index, `{"type":"signature_delta","signature":${JSON.stringify(signature)}}`);
}

export function inputDelta(index: number, partialJson: string): string {
  return blockDelta(index, `{"type":"input_json_delta","partial_json":${JSON.stringify(partialJson)}}`);
}
