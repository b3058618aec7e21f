import { errorOf } from "@/api/client";
import { Failed, Outlines } from "@/components/Outcome";
import { useRefusal } from "@/live/useLive";

interface ReadingProps {
  label: string;
  /** Said when the server is known not to answer: the question may be a while on its way. */
  failed: string;
  retry: () => void;
}

/** In the place of what is being read. */
export function Reading({ label, failed, retry }: ReadingProps) {
  return useRefusal() === null ? (
    <Outlines count={4} height={24} label={label} />
  ) : (
    <Failed what={failed} error={errorOf(0, "")} retry={retry} />
  );
}
