import { area } from "@/languages/area";
import english from "@/languages/en/capacity.json";

export const { t, rich } = area("capacity", english);
