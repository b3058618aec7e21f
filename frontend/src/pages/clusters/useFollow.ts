/** Begins a run that follows a cluster, and opens it: the cluster is read first, which takes a while of a large one. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { followCluster, type FollowWish } from "@/api/clusters";

/** How often it is asked whether the cluster is read. */
const LOOK = 500;

export function useFollow(cluster: string) {
  const navigate = useNavigate();
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);
  return useMutation({
    mutationFn: async (wish: FollowWish) => {
      let answer = await followCluster(cluster, wish);
      while (answer.run === null && answer.reading !== null && !left.current) {
        await new Promise((later) => setTimeout(later, LOOK));
        answer = await followCluster(cluster, wish, answer.reading.id);
      }
      return answer.run;
    },
    onSuccess: (run, wish) => {
      if (run === null || left.current) return null;
      return navigate({ to: wish.shadow === true ? "/runs/$run/shadow" : "/runs/$run", params: { run: run.id } });
    },
  });
}
