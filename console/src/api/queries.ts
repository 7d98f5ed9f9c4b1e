import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiError, call, type Input, type Output, type RouteName, type Row } from './client.ts';

const RETRIES_MAX = 2;
const [NO_ID, NOT_FOUND] = [400, 404];

export function createQueryClient(): QueryClient {
  /** How each query was refused the last time: one that is read every few seconds has nothing new to say. */
  const refused = new WeakMap<object, number>();
  const onReadError = (error: Error, query: { readonly queryKey: readonly unknown[] }): void => {
    if (!(error instanceof ApiError) || refused.get(query) === error.status) return;
    refused.set(query, error.status);
    lookAgainWhoReads(client, error.status, query.queryKey[0]);
  };
  const onError = (error: Error): void => {
    if (error instanceof ApiError) lookAgainWhoReads(client, error.status);
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: onReadError, onSuccess: (_data, query) => refused.delete(query) }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      mutations: { networkMode: 'always' },
      queries: {
        staleTime: 10_000,
        // Whether the browser is online says nothing about a gateway on this machine.
        networkMode: 'always',
        refetchOnWindowFocus: true,
        // A refusal stays a refusal. A gateway that is away is asked again by the shell.
        retry: (failures, error) => error instanceof ApiError && error.mayPass && failures < RETRIES_MAX,
      },
    },
  });
  return client;
}

/** Who is signed in, and the accounts in which they have a role. */
const [WHO_READS, ITS_ACCOUNTS] = ['GET /me', 'GET /accounts'];
const NO_SESSION = 401;
/** Of a request that the role does not allow, or whose account it no longer finds. */
const NOT_ALLOWED = [403, NOT_FOUND];

/**
 * A session that has ended leads to the page for signing in, whichever request is refused first; what is on the page stays
 * until then. If it was the role that has changed, the page offers what the new one allows.
 */
export function lookAgainWhoReads(client: QueryClient, status: number, refusedRoute: unknown = null): void {
  const readAgain = (route: unknown): void => void client.invalidateQueries({ queryKey: [route] });
  if (refusedRoute === WHO_READS) return;
  if (status === NO_SESSION) readAgain(WHO_READS);
  if (!NOT_ALLOWED.includes(status) || refusedRoute === ITS_ACCOUNTS) return;
  for (const route of [WHO_READS, ITS_ACCOUNTS]) readAgain(route);
}

/** What is not there does not come into being, and what cannot be an id never is one. */
function isLasting(error: ApiError | null): boolean {
  return error?.status === NOT_FOUND || error?.status === NO_ID;
}

interface ReadOptions<Data = unknown> {
  /** False while the input is not known yet. */
  readonly enabled?: boolean;
  readonly refetchMs?: number;
  /** Reads again only as long as this holds. */
  refetchWhile?(data: Data): boolean;
  /** Shows the rows of the previous filters while those of the new ones load. */
  readonly keepsPrevious?: boolean;
  readonly staleMs?: number;
}

const STILL_READ = {
  ...({ status: 'success', error: null, isSuccess: true, isError: false, isPending: false } as const),
  ...({ isLoading: false, isLoadingError: false, isRefetchError: false, isPlaceholderData: false } as const),
} as const;

/** Reads a route; the same route and input are read once, however many parts of a page ask. */
export function useApi<Route extends RouteName>(
  route: Route,
  input: Input<Route>,
  {
    enabled = true,
    refetchMs = 0,
    refetchWhile = () => true,
    keepsPrevious = false,
    staleMs,
  }: ReadOptions<Output<Route>> = {},
): UseQueryResult<Output<Route>, ApiError> {
  const found = useQuery<Output<Route>, ApiError>({
    queryKey: [route, input],
    queryFn: ({ signal }) => call(route, input, { signal }),
    enabled,
    refetchInterval: ({ state: { data, error } }) =>
      !isLasting(error) && (data === undefined || refetchWhile(data)) && refetchMs,
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  // The shell says that the gateway is away; what was read stays meanwhile.
  if (found.status !== 'error' || !found.error.isAway || found.data === undefined) return found;
  return { ...found, ...STILL_READ, data: found.data };
}

export interface RowPages<Each> {
  readonly rows: readonly Each[];
  readonly isPending: boolean;
  readonly isStale: boolean;
  readonly error: ApiError | null;
  /** Whether the last read failed, also while the gateway is away and `error` leaves that to the shell. */
  readonly isFailed: boolean;
  /** How many pages were read: reading the list again is as many requests. */
  readonly pageCount: number;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  more(): void;
  again(): void;
}

interface AnyPage {
  readonly data: readonly unknown[];
  readonly next: string | null;
}

interface RowOptions<Each> extends Pick<ReadOptions, 'enabled' | 'staleMs' | 'refetchMs'> {
  /** Reads again only as long as this holds for one of the rows. */
  refetchWhile?(row: Each): boolean;
}

/** A list is read again by itself only up to this many pages, because each of them is a request. */
const REFETCHED_PAGES_MAX = 2;

/** A list that is read page by page as somebody asks for more. */
export function useRows<Route extends RouteName>(
  route: Route,
  input: Input<Route>,
  { enabled = true, staleMs, refetchMs = 0, refetchWhile }: RowOptions<Row<Route>> = {},
): RowPages<Row<Route>> {
  const isReadAgain = (pages: readonly AnyPage[]): boolean => {
    if (pages.length > REFETCHED_PAGES_MAX) return false;
    return refetchWhile === undefined || (pages.flatMap(({ data }) => data) as Row<Route>[]).some(refetchWhile);
  };
  const found = useInfiniteQuery<AnyPage, ApiError, { pages: AnyPage[] }, unknown[], string | undefined>({
    queryKey: [route, input, 'rows'],
    queryFn: async ({ signal, pageParam }) =>
      (await call(route, { ...input, after: pageParam } as Input<Route>, { signal })) as AnyPage,
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
    refetchInterval: ({ state: { data } }) => isReadAgain(data?.pages ?? []) && refetchMs,
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
  });
  return {
    rows: (found.data?.pages ?? []).flatMap(({ data }) => data) as unknown as readonly Row<Route>[],
    isPending: found.isPending && enabled,
    isStale: found.isPlaceholderData,
    // The shell says that the gateway is away; rows that were read stay meanwhile.
    error: found.error?.isAway === true && found.data !== undefined ? null : found.error,
    isFailed: found.isError,
    pageCount: found.data?.pages.length ?? 0,
    hasMore: found.hasNextPage,
    isLoadingMore: found.isFetchingNextPage,
    more: () => void found.fetchNextPage(),
    again: () => void found.refetch(),
  };
}

interface ChangeInput<Route extends RouteName> {
  readonly input: Input<Route>;
  readonly version?: number;
}

type ChangeState<Route extends RouteName> = UseMutationResult<Output<Route>, ApiError, ChangeInput<Route>>;

interface Change<Route extends RouteName> extends Pick<ChangeState<Route>, 'isPending' | 'error' | 'reset'> {
  /** The callbacks are called even if whatever started the change is gone by then: they say what came of it. */
  mutate(
    change: ChangeInput<Route>,
    callbacks?: { onSuccess?(output: Output<Route>): void; onError?(error: ApiError): void },
  ): void;
}

interface ChangeOptions {
  readonly refreshes?: readonly RouteName[];
  /** Whether the response has a secret. It is shown at once, because long lists take a while to be read again. */
  readonly givesSecret?: boolean;
}

/** Calls a route that changes something, and then reads again what the change may show in. */
export function useChange<Route extends RouteName>(
  route: Route,
  { refreshes = [], givesSecret = false }: ChangeOptions = {},
): Change<Route> {
  const client = useQueryClient();
  const { isPending, error, reset, mutateAsync } = useMutation<Output<Route>, ApiError, ChangeInput<Route>>({
    mutationFn: ({ input, version }) => call(route, input, version === undefined ? {} : { version }),
    onSettled: async () => {
      const refreshed = Promise.all(refreshes.map((each) => client.invalidateQueries({ queryKey: [each] })));
      if (!givesSecret) await refreshed;
    },
  });
  // A second click may come before the button is disabled, and must not mint a second key or add a credit twice.
  const isRunning = useRef(false);
  const run = async (change: ChangeInput<Route>): Promise<Output<Route>> => {
    isRunning.current = true;
    try {
      return await mutateAsync(change);
    } finally {
      isRunning.current = false;
    }
  };
  return {
    isPending,
    error,
    reset,
    mutate: (change, { onSuccess, onError } = {}) => {
      if (!isRunning.current) void run(change).then(onSuccess, onError ?? (() => undefined));
    },
  };
}
