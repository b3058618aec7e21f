import { Page } from "@/components/Panel";

export function PodsPage() {
  return <Page />;
}
