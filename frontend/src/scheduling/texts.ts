import { area } from "@/languages/area";
import english from "@/languages/en/scheduling.json";

export const { t, rich } = area("scheduling", english);
