/** Members by which a response would name the host, or tell of its bill for our account. */
export const HOST_MEMBERS: readonly string[] = ['billing', 'provider', 'cost_token'];
