import { Page } from "@/components/Panel";

export function WaitingPage() {
  return <Page />;
}
