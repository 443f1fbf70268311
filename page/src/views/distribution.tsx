// How the values of accepted people (above the line) and refused people (below it) are distributed.

import { useMemo } from "preact/hooks";
import { useSpeech } from "../language";
import type { Cell, Column, Distribution as Counted } from "../types";

const [WIDTH, HEIGHT] = [240, 56];
const MIDDLE = HEIGHT / 2;
const MOST_NAMES = 6; // of categories below their bars

interface Props {
  column: Column;
  /** Ends of the scale, as of the slider below; the ends of the counts if left out. */
  ends?: [number, number] | undefined;
  today: Cell;
  now?: Cell;
}

export function Distribution({ column, ends, today, now }: Props) {
  const { say, format } = useSpeech();
  const counted = column.distribution;
  const [first, last] = ends ?? [undefined, undefined];
  // The bars stay while a value is moved over them.
  const drawn = useMemo(() => (counted ? <Bars counted={counted} ends={ends} /> : null), [counted, first, last]);
  if (!counted) return null;
  const { x } = scaleOf(counted, ends);
  const place = (value: Cell | undefined) => {
    if (value === undefined || value === null) return null;
    if ("edges" in counted) return typeof value === "number" ? x(value) : null;
    const k = counted.values.indexOf(value);
    return k < 0 ? null : x(k + 0.5);
  };
  const marks: [string, number | null][] = [
    ["today", place(today)],
    ["now", now === today ? null : place(now)],
  ];
  const ticks = ticksOf(counted, ends);
  return (
    <div class="spread">
      <svg class="distribution" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" direction="ltr" aria-label={say("distributionOf", { column: column.title })}>
        {drawn}
        <line class="middle" x1="0" x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
        {marks.map(([kind, at]) => at !== null && <line key={kind} class={kind} x1={at} x2={at} y1="0" y2={HEIGHT} />)}
      </svg>
      {ticks.length > 0 && (
        <div class={"edges" in counted ? "ticks" : "ticks names"} aria-hidden="true">
          {ticks.map((value, k) => (
            <bdi key={k}>{format.value(rounded(value, column.digits), column)}</bdi>
          ))}
        </div>
      )}
    </div>
  );
}

function scaleOf(counted: Counted, ends: [number, number] | undefined) {
  const bars = "edges" in counted ? counted.edges : Array.from({ length: counted.accepted.length + 1 }, (_, k) => k);
  const [low, high] = ends ?? [bars[0] ?? 0, bars[bars.length - 1] ?? 1];
  const x = (value: number) => Math.max(0, Math.min(WIDTH, ((value - low) / (high - low || 1)) * WIDTH));
  return { bars, x };
}

function rounded(value: Cell, digits: number | null): Cell {
  return typeof value === "number" && digits !== null ? Number(value.toFixed(Math.min(digits, 100))) : value;
}

/** What is written below: the ends of a scale, or the categories if they are few. */
function ticksOf(counted: Counted, ends: [number, number] | undefined): Cell[] {
  if (!("edges" in counted)) return counted.values.length <= MOST_NAMES ? counted.values : [];
  return ends ?? [counted.edges[0] ?? null, counted.edges[counted.edges.length - 1] ?? null];
}

function Bars({ counted, ends }: { counted: Counted; ends: [number, number] | undefined }) {
  const { bars, x } = scaleOf(counted, ends);
  const [yes, no] = [Math.max(1, ...counted.accepted), Math.max(1, ...counted.refused)];
  return (
    <>
      {counted.accepted.map((count, k) => {
        const [from, to] = [x(bars[k] ?? 0), x(bars[k + 1] ?? 0)];
        const width = Math.max(0, to - from - 1);
        const up = (MIDDLE - 2) * (count / yes);
        const down = (MIDDLE - 2) * ((counted.refused[k] ?? 0) / no);
        return (
          <g key={k}>
            <rect class="yes" x={from} y={MIDDLE - up} width={width} height={up} />
            <rect class="no" x={from} y={MIDDLE} width={width} height={down} />
          </g>
        );
      })}
    </>
  );
}

/** What the colours mean; once for all pictures of a section. */
export function Legend() {
  const { say } = useSpeech();
  return (
    <ul class="legend">
      <li class="yes">{say("legendAccepted")}</li>
      <li class="no">{say("legendRefused")}</li>
      <li class="today">{say("legendToday")}</li>
    </ul>
  );
}
