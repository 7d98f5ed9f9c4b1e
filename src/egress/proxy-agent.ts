/** The same for the layers above. */
export { proxyAgent } from '../http1/proxy-agent.ts';
