/**
 * Server state: one query per command and arguments, refetched when a commit says so and never by
 * a timer. Each command stands in the table with what it provides (a read) or stales (a write);
 * a `changed` event or a finished write names tags, and every open screen refetches what it shows.
 */
import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useMutationState,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect } from "react";
import {
  type BankId,
  type CacheTag,
  type Changed,
  type MemoryFilter,
  type MemoryPage,
  type OperationId,
  type OperationPage,
  type OperationQuery,
  READS,
  type Report,
  WRITES,
} from "./bindings";
import { toReport } from "./errors";
import { type Commands, usePlatform } from "./index";

/** Commands that read, and those that write, as the table of the program sorts them. */
export type ReadName = keyof typeof READS;
export type WriteName = keyof typeof WRITES;

const shows: Record<ReadName, readonly CacheTag[]> = READS;
const changes: Record<WriteName, readonly CacheTag[]> = WRITES;

type Args<N extends keyof Commands> = Parameters<Commands[N]>;
type Answer<N extends keyof Commands> = Awaited<ReturnType<Commands[N]>>;

/** Asks one read command. `args` of null waits (nothing is asked yet). */
export function useRead<N extends ReadName>(
  name: N,
  args: Args<N> | null,
  options: { keepPrevious?: boolean } = {},
): UseQueryResult<Answer<N>, Report> {
  const { commands } = usePlatform();
  return useQuery<Answer<N>, Report>({
    queryKey: [name, ...(args ?? [null])],
    queryFn: () => invoke(commands, name, args as Args<N>),
    enabled: args !== null,
    placeholderData: options.keepPrevious ? keepPreviousData : undefined,
  });
}

/** The memories of a filter, page by page; what was shown stays until the answer to a new filter. */
export function useMemoryPages(
  bank: BankId,
  filter: MemoryFilter | null,
): UseInfiniteQueryResult<InfiniteData<MemoryPage>, Report> {
  const { commands } = usePlatform();
  return useInfiniteQuery({
    queryKey: ["listMemories", bank, filter],
    queryFn: ({ pageParam }) =>
      invoke(commands, "listMemories", [bank, filter as MemoryFilter, pageParam]),
    initialPageParam: null as string | null,
    getNextPageParam: ({ page }) => page.next,
    enabled: filter !== null,
    placeholderData: keepPreviousData,
  });
}

/** The operations of a query, page by page. */
export function useOperationPages(
  bank: BankId,
  query: OperationQuery,
): UseInfiniteQueryResult<InfiniteData<OperationPage>, Report> {
  const { commands } = usePlatform();
  return useInfiniteQuery({
    queryKey: ["pageOperations", bank, query],
    queryFn: ({ pageParam }) =>
      invoke(commands, "pageOperations", [bank, { ...query, after: pageParam }]),
    initialPageParam: null as OperationId | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
}

/** Calls one write command; what it stales is refetched before the promise of the call resolves. */
export function useWrite<N extends WriteName>(
  name: N,
): UseMutationResult<Answer<N>, Report, Args<N>> {
  const { commands } = usePlatform();
  const client = useQueryClient();
  return useMutation<Answer<N>, Report, Args<N>>({
    mutationKey: [name],
    mutationFn: (args) => invoke(commands, name, args),
    onSettled: () => invalidateTags(client, changes[name], null),
  });
}

/**
 * What the last call of a write was refused with, wherever it was made from; null once it has
 * worked. For writes whose screen is gone before they end.
 */
export function useRefusal(name: WriteName): Report | null {
  const calls = useMutationState({
    filters: { mutationKey: [name] },
    select: ({ state }) => state.error as Report | null,
  });
  return calls.at(-1) ?? null;
}

async function invoke<N extends keyof Commands>(
  commands: Commands,
  name: N,
  args: Args<N>,
): Promise<Answer<N>> {
  try {
    const command = commands[name] as (...args: Args<N>) => Promise<Answer<N>>;
    return await command(...args);
  } catch (refused) {
    throw toReport(refused);
  }
}

/** Refetches every open query that shows one of these tags, of this bank or of all banks. */
function invalidateTags(
  client: QueryClient,
  tags: readonly CacheTag[],
  bank: BankId | null,
): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [name, ...args] }) =>
      shows[name as ReadName]?.some((tag) => tags.includes(tag)) === true &&
      (bank === null || typeof args[0] !== "string" || args.includes(bank)),
  });
}

/**
 * Something of the page's own that outlives the screen that shows it, until the window closes. The
 * setter works from wherever it was begun, also when that screen is gone.
 */
export function useKept<T>(key: string, begin: T): [T, (change: (before: T) => T) => void] {
  const client = useQueryClient();
  const queryKey = ["kept", key];
  const { data } = useQuery({
    queryKey,
    queryFn: () => begin,
    initialData: begin,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return [
    data ?? begin,
    (change) => client.setQueryData<T>(queryKey, (before) => change(before ?? begin)),
  ];
}

/** Forgets all that was read and asks for what is on show again. */
export function useReadAnew(): () => void {
  const client = useQueryClient();
  return () => void client.resetQueries();
}

/** Listens to what commits have changed, for as long as the page lives. */
export function useInvalidation(): void {
  const platform = usePlatform();
  const client = useQueryClient();
  useEffect(
    () =>
      platform.onChanged(({ bank, tags }: Changed) => {
        void invalidateTags(client, tags, bank);
      }),
    [platform, client],
  );
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // Fresh until a commit says otherwise.
        staleTime: Number.POSITIVE_INFINITY,
        retry: false,
        refetchOnWindowFocus: false,
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
