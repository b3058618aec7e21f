import { area } from "@/languages/area";
import english from "@/languages/en/keeping.json";

export const { t, rich } = area("keeping", english);
