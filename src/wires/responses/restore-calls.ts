import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { InputUnwrapper, unwrapInput } from '../fields/custom-input.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { callWords, setMembers } from './complete-item.ts';
import { CUSTOM_CALL, FUNCTION_CALL, readSearchArguments, SEARCH_CALL } from './item-kinds.ts';
import { findItem, type HostNames } from './match-output.ts';
import { echoTools } from './response-object.ts';
import { type CallersTool, offeredTools, ToolNames } from './tool-names.ts';

/** A streamed call of a tool that the host knows as a function; `unwrapper` is null for a tool search. */
interface OpenCall extends HostNames {
  readonly id: unknown;
  readonly unwrapper: InputUnwrapper | null;
  input: string;
}

/** What happened to an event: nothing, it was rewritten, or it has nothing for the client. */
type Restored = 'same' | 'changed' | 'withheld';

/** Gives a host's calls the names and kinds that the caller's tools have; the inverse of `flatten-tools`. */
export class CallRestorer {
  readonly #request: Members;
  readonly #names: ToolNames;
  readonly #open: OpenCall[] = [];

  private constructor(request: Members) {
    this.#request = request;
    this.#names = new ToolNames(offeredTools(request));
  }

  /** Null if the host gets the caller's tools as they are. */
  static for(request: unknown, { clientTools }: HostQuirks): CallRestorer | null {
    if (!isObject(request) || clientTools === true) return null;
    const isRenamed = offeredTools(request).some(({ type }) => type !== 'function');
    return isRenamed ? new CallRestorer(request) : null;
  }

  /** Rewrites an event of the host in place. */
  event(event: Members): Restored {
    if (event.type === FUNCTION_CALL.delta || event.type === FUNCTION_CALL.wordsDone) return this.#words(event);
    if (isObject(event.response)) return this.response(event.response) ? 'changed' : 'same';
    if (!isObject(event.item)) return 'same';
    const hostId = event.item.id;
    if (!this.#item(event.item)) return 'same';
    if (event.type === 'response.output_item.added' && event.item.type !== FUNCTION_CALL.type) {
      const unwrapper = event.item.type === CUSTOM_CALL.type ? new InputUnwrapper() : null;
      this.#open.push({ hostId, hostIndex: event.output_index, id: event.item.id, unwrapper, input: '' });
    }
    return 'changed';
  }

  /** Rewrites a response object in place: its items, and the tools that it repeats. */
  response(response: Members): boolean {
    const { tools, tool_choice: choice } = this.#request;
    const isEcho = Array.isArray(response.tools) && response.tools.length > 0;
    let changed = isEcho && setMembers(response, { tools: echoTools(tools), tool_choice: choice ?? 'auto' });
    for (const item of objectsIn(response.output)) changed = this.#item(item) || changed;
    return changed;
  }

  #item(item: Members): boolean {
    const tool =
      item.type === FUNCTION_CALL.type || item.type === CUSTOM_CALL.type ? this.#names.find(item.name) : undefined;
    if (tool === undefined) return false;
    const isRenamed = setMembers(item, { name: tool.name, ...namespaceOf(tool) });
    if (tool.kind === 'search') return setMembers(item, searchCall(item));
    if (tool.kind === 'function' || item.type === CUSTOM_CALL.type) return isRenamed;
    const input = unwrapInput(callWords(item.arguments));
    return setMembers(item, { type: CUSTOM_CALL.type, id: customId(item.id), input, arguments: undefined });
  }

  /** Arguments of a custom tool are its wrapped input. */
  #words(event: Members): Restored {
    const call = findItem(this.#open, event.item_id, event.output_index);
    if (call === undefined) return 'same';
    if (call.unwrapper === null) return 'withheld';
    event.item_id = call.id;
    if (event.type === FUNCTION_CALL.delta) {
      event.type = CUSTOM_CALL.delta;
      event.delta = typeof event.delta === 'string' ? call.unwrapper.add(event.delta) : '';
      call.input += event.delta as string;
      return event.delta === '' ? 'withheld' : 'changed';
    }
    const words = callWords(event.arguments);
    const input = words === '' ? call.input : unwrapInput(words);
    event.arguments = undefined;
    // Input that no delta has brought is still missing, so the event becomes the delta; the end of the item follows.
    const isMissing = call.input === '' && input !== '';
    Object.assign(
      event,
      isMissing ? { type: CUSTOM_CALL.delta, delta: input } : { type: CUSTOM_CALL.wordsDone, input },
    );
    call.input = input;
    return 'changed';
  }
}

/** This kind of call has its arguments as an object, and no events for them. */
function searchCall({ id, arguments: json }: Members): Members {
  const own = typeof id === 'string' ? id.replace(/^fc_/, 'tsc_') : id;
  return {
    type: SEARCH_CALL.type,
    id: own,
    execution: 'client',
    name: undefined,
    arguments: readSearchArguments(callWords(json)),
  };
}

function namespaceOf({ namespace }: CallersTool): Members {
  return namespace === null ? {} : { namespace };
}

/** Vendors check the prefix of an id when the item comes back. */
function customId(id: unknown): unknown {
  return typeof id === 'string' ? id.replace(/^fc_/, 'ctc_') : id;
}
