import { area } from "@/languages/area";
import english from "@/languages/en/run.json";

export const { t, rich } = area("run", english);
