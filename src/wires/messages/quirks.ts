/** Members by which messages would name the host, its account or its own request id. */
export const HOST_MEMBERS: readonly string[] = ['provider', 'gateway'];
