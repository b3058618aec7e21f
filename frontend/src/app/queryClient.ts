import { QueryCache, QueryClient } from "@tanstack/react-query";

import { ApiError } from "@/api/client";

/** Reads are tried twice more when the server may recover; a 4xx will not change by asking again. */
export const queryClient = new QueryClient({
  // A session that ended while a page was open: asking who we are again shows the way to sign in.
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== "me")
        void queryClient.resetQueries({ queryKey: ["me"] });
    },
  }),
  defaultOptions: {
    queries: {
      // A machine without a network still reaches the server that runs on it.
      networkMode: "always",
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
    mutations: { networkMode: "always" },
  },
});
