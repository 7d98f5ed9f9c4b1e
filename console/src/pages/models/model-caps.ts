const LABELS: Readonly<Record<string, string>> = {
  structured_outputs: 'structured outputs',
  prompt_caching: 'prompt caching',
  messages: 'messages route',
  responses: 'responses route',
};

export function capLabel(cap: string): string {
  return LABELS[cap] ?? cap.replaceAll('_', ' ');
}
