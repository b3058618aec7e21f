import { area } from "@/languages/area";
import english from "@/languages/en/real.json";

export const { t, rich } = area("real", english);
