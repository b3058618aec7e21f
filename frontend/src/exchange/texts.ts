import { area } from "@/languages/area";
import english from "@/languages/en/exchange.json";

export const { t, rich } = area("exchange", english);
