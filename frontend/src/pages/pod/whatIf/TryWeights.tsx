import { Button } from "@/components/Button";

import { t } from "./texts";

export function TryWeights({ trying, onToggle }: { trying: boolean; onToggle: () => void }) {
  return (
    <Button size="sm" icon="sliders" onClick={onToggle}>
      {trying ? t("asScored") : t("tryWeights")}
    </Button>
  );
}
