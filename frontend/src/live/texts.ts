import { area } from "@/languages/area";
import english from "@/languages/en/live.json";

export const { t } = area("live", english);
