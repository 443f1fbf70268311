// Cost against survival: every plan a point, and the way to it, step by step.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSpeech } from "../language";
import { own } from "../plans";
import type { Plan, Verdict } from "../types";

const HEIGHT = 300;
const BADGE = 13; // radius of a plan's number
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 24, 20, 48];

interface Props {
  plans: Plan[];
  today: Verdict | null;
  ways: Map<Plan, (Verdict | null)[]>;
  chosen: Plan | null;
  guided: boolean;
}

export function Picture({ plans, today, ways, chosen, guided }: Props) {
  const { say, format } = useSpeech();
  const [width, setWidth] = useState(640);
  const figure = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = figure.current;
    if (!element) return undefined;
    // Drawn in the size it has, so that its words stay as large as others.
    const watched = new ResizeObserver(() => setWidth(Math.max(240, Math.floor(element.clientWidth))));
    watched.observe(element);
    return () => watched.disconnect();
  }, []);
  const known = plans.filter((plan) => plan.share !== null && plan.cost !== null && Number.isFinite(plan.cost));
  const most = nice(Math.max(...known.map((plan) => plan.cost ?? 0), 1e-9));
  const shares = [...known.map((plan) => plan.share ?? 0), ...known.flatMap((plan) => (ways.get(plan) ?? []).map((said) => said?.share ?? 1)), today?.share ?? 1];
  const floor = Math.min(...shares) >= 0.75 ? 0.7 : Math.min(...shares) >= 0.5 ? 0.4 : 0;
  const x = (cost: number) => LEFT + (cost / most) * (width - LEFT - RIGHT);
  const y = (share: number) => TOP + ((1 - share) / (1 - floor)) * (HEIGHT - TOP - BOTTOM);
  const levels = [0, 0.25, 0.5, 0.75, 1].map((part) => floor + part * (1 - floor));
  const costs = [0, 0.25, 0.5, 0.75, 1].map((part) => part * most);
  const placed = badges(known, x, y);
  const told = known.map((plan) => say("pictureOf", { n: plans.indexOf(plan) + 1, cost: format.amount(plan.cost), share: format.share(plan.share) })).join(" ");
  return (
    <figure class="picture" ref={figure}>
      <figcaption>{say(guided ? "pictureGuided" : "pictureTitle")}</figcaption>
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={told} direction="ltr">
        {levels.map((share) => (
          <g key={share} class="level">
            <line x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 8} y={y(share) + 4} text-anchor="end">
              {format.share(share)}
            </text>
          </g>
        ))}
        {costs.map((cost) => (
          <text key={cost} x={x(cost)} y={HEIGHT - BOTTOM + 20} text-anchor="middle">
            {format.amount(cost)}
          </text>
        ))}
        <text class="axis" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">
          {say("cost")}
        </text>
        {known.map((plan) => {
          const path = wayOf(plan, today, ways.get(plan));
          return (
            path.length > 1 && (
              <g key={`way-${plan.rank}`} class={plan === chosen ? "way chosen" : "way"}>
                <polyline points={path.map(([cost, share]) => `${x(cost)},${y(share)}`).join(" ")} />
                {path.slice(0, -1).map(([cost, share], k) => (
                  <circle key={k} cx={x(cost)} cy={y(share)} r="3.5" />
                ))}
              </g>
            )
          );
        })}
        {placed.map(
          ({ plan, at, badge }) =>
            badge !== at[1] && (
              <g key={`stalk-${plan.rank}`} class="stalk">
                <line x1={at[0]} y1={at[1]} x2={at[0]} y2={badge} />
                <circle cx={at[0]} cy={at[1]} r="4" />
              </g>
            ),
        )}
        {placed.map(({ plan, at, badge }) => (
          <g key={`plan-${plan.rank}`} class={plan === chosen ? "point chosen" : "point"}>
            <circle cx={at[0]} cy={badge} r={BADGE} />
            <text x={at[0]} y={badge + 5} text-anchor="middle">
              {format.count(plans.indexOf(plan) + 1)}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

/** Where plans and their numbers stand; a number that would cover another hangs below it. */
function badges(plans: Plan[], x: (cost: number) => number, y: (share: number) => number) {
  const placed: { plan: Plan; at: [number, number]; badge: number }[] = [];
  for (const plan of plans) {
    const at: [number, number] = [x(plan.cost ?? 0), y(plan.share ?? 0)];
    let badge = at[1];
    while (placed.some((other) => Math.hypot(other.at[0] - at[0], other.badge - badge) < 2 * BADGE + 2)) badge += BADGE;
    placed.push({ plan, at, badge });
  }
  return placed;
}

/** Costs and shares on the way to a plan, as far as models were asked. */
function wayOf(plan: Plan, today: Verdict | null, said: (Verdict | null)[] | undefined): [number, number][] {
  const path: [number, number][] = [];
  if (today && today.share !== null) path.push([0, today.share]);
  let cost = 0;
  own(plan).forEach((change, k) => {
    cost += change.cost;
    const share = said?.[k]?.share;
    if (k < own(plan).length - 1 && share !== undefined && share !== null) path.push([cost, share]);
  });
  path.push([plan.cost ?? 0, plan.share ?? 0]);
  return path;
}

function nice(largest: number): number {
  const unit = 10 ** Math.floor(Math.log10(largest));
  return (([1, 2, 4, 6, 8, 10].find((part) => part * unit >= largest * 1.05) ?? 12) * unit);
}
