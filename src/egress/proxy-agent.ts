/** For the layers above, which do not import http1/. */
export { proxyAgent } from '../http1/proxy-agent.ts';
