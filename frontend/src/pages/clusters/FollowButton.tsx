/** Begins a run that follows the cluster: it is read first, which takes a while of a large one. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { type ClusterDetails, followCluster } from "@/api/clusters";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";

import { t } from "./texts";

/** How often it is asked whether the cluster is read. */
const LOOK = 500;

export function FollowButton({ cluster }: { cluster: ClusterDetails }) {
  const { operates } = useMe();
  const navigate = useNavigate();
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);
  const follow = useMutation({
    mutationFn: async () => {
      let answer = await followCluster(cluster.name);
      while (answer.run === null && answer.reading !== null && !left.current) {
        await new Promise((later) => setTimeout(later, LOOK));
        answer = await followCluster(cluster.name, answer.reading.id);
      }
      return answer.run;
    },
    onSuccess: (run) => (run === null || left.current ? null : navigate({ to: "/runs/$run", params: { run: run.id } })),
  });
  if (!operates) return null;
  return (
    <>
      <Button
        sends
        disabled={follow.isPending || !cluster.is_offered || !cluster.can_be_read}
        title={cluster.can_be_read ? t("whatFollowingIs") : t("followWhenRead")}
        onClick={() => follow.mutate()}
      >
        {follow.isPending ? t("readingToFollow") : t("follow")}
      </Button>
      {follow.error === null ? null : <Failed what={t("notFollowed")} error={follow.error} small />}
    </>
  );
}
