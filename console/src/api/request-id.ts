const REQUEST_ID = /^req_[0-9a-z]{13}$/;

export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}
