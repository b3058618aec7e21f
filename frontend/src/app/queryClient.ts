import { QueryClient } from "@tanstack/react-query";

import { ApiError } from "@/api/client";

/** Reads are tried twice more when the server may recover; a 4xx will not change by asking again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
