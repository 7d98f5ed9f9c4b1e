/** The data of each server-sent event, parsed. Ends with the stream. */
export async function* streamEvents(response: Response): AsyncGenerator<unknown> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (unread + value).split('\n\n');
    unread = frames.pop() ?? '';
    for (const frame of frames) {
      const data = dataOf(frame);
      if (data !== '' && data !== '[DONE]') yield JSON.parse(data) as unknown;
    }
  }
}

function dataOf(frame: string): string {
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
}
