import { area } from "@/languages/area";
import english from "@/languages/en/runs.json";

export const { t, rich } = area("runs", english);
