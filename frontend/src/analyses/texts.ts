import { area } from "@/languages/area";
import english from "@/languages/en/analyses.json";

export const { t, rich } = area("analyses", english);
