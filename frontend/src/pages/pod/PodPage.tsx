import { Page } from "@/components/Panel";

export function PodPage() {
  return <Page />;
}
