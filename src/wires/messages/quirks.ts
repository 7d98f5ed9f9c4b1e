/** Members that would reveal the host, its account or its request id. */
export const HOST_MEMBERS: readonly string[] = ['provider', 'gateway'];
