// The types of the server's messages. An optional field may be missing, so its readers check it.

export interface Finding {
  code?: string;
  short: string;
  long?: string;
}

export interface Mistake {
  type: string;
  message: string;
  line: number | null;
  traceback: string;
}

export interface Measure {
  name: string;
  value: number;
  unit: string;
  measured_by: string;
}

export interface RunDone {
  outcome: string;
  headline?: string;
  finding?: Finding | null;
  mistake?: Mistake | null;
  measures?: Measure[];
  resolved?: Record<string, string>;
  measured?: string;
  output_truncated?: boolean;
  trace_note?: string;
}

export interface OutputPiece {
  stream: "stdout" | "stderr";
  text: string;
}

export interface SearchPiece {
  text: string;
  found: boolean;
}

export interface SearchHit {
  kind: string;
  href: string;
  where: string;
  heading: SearchPiece[];
  snippet: SearchPiece[];
}

export interface SearchAnswer {
  searched: string;
  whole: boolean;
  hits: SearchHit[];
}

export interface Accepted {
  id: string;
  ahead?: number | null;
  estimate_seconds?: number | null;
  served?: boolean;
  events: string;
}
