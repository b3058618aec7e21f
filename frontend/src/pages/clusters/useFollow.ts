/** Begins a run that follows a cluster, and opens it: the cluster is read first, which takes a while of a large one. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { followCluster, type FollowWish, scheduleCluster, type ScheduleWish } from "@/api/clusters";
import { type ForRealWish, scheduleForReal } from "@/api/scheduling";

/** How often it is asked whether the cluster is read. */
const LOOK = 500;

type Begin<Wish> = (cluster: string, wish: Wish, reading?: string) => ReturnType<typeof followCluster>;

function useBegin<Wish>(cluster: string, begin: Begin<Wish>, page: (wish: Wish) => "/runs/$run" | "/runs/$run/shadow") {
  const navigate = useNavigate();
  const left = useRef(false);
  const isLeft = () => left.current;
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);
  return useMutation({
    mutationFn: async (wish: Wish) => {
      let answer = await begin(cluster, wish);
      while (answer.run === null && answer.reading !== null && !isLeft()) {
        await new Promise((later) => setTimeout(later, LOOK));
        // Who left meanwhile wants no run: without this question there is none.
        if (isLeft()) break;
        answer = await begin(cluster, wish, answer.reading.id);
      }
      return answer.run;
    },
    onSuccess: (run, wish) => {
      if (run === null || isLeft()) return null;
      return navigate({ to: page(wish), params: { run: run.id } });
    },
  });
}

export const useFollow = (cluster: string) =>
  useBegin<FollowWish>(cluster, followCluster, (wish) =>
    wish.shadow === undefined ? "/runs/$run" : "/runs/$run/shadow",
  );

export const useSchedule = (cluster: string) => useBegin<ScheduleWish>(cluster, scheduleCluster, () => "/runs/$run");

/** `run`: the dry run that ends into it. */
export const useScheduleForReal = (run: string) => useBegin<ForRealWish>(run, scheduleForReal, () => "/runs/$run");
