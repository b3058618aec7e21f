import { area } from "@/languages/area";
import english from "@/languages/en/compare.json";

export const { t, rich } = area("compare", english);
