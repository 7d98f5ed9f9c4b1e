import { type PointerEvent, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Plot, ticksFor } from './series.ts';

interface StackedBarsProps {
  readonly plot: Plot;
  /** What is plotted, for screen readers; the same data is in a table nearby. */
  readonly label: string;
  readonly shape?: 'bars' | 'lines';
  readonly height?: number;
  /** What one unit of the axis is, in units of the values. */
  readonly unit?: bigint;
  formatValue(value: bigint): string;
  formatTick(value: number): string;
  formatStart(start: number): string;
}

const AXIS_WIDTH = 56;
const FOOT_HEIGHT = 24;
const LABELS_EVERY_PX = 96;
const GAP = 1;

/** Stacked bars or lines over time, with the values of all series on hover. */
export default function StackedBars(props: StackedBarsProps): ReactNode {
  const { plot, label, shape = 'bars', height = 208, unit = 1n, formatTick, formatStart } = props;
  const [frame, width] = useWidth();
  const [hovered, setHovered] = useState<number | null>(null);
  const area = useRef<HTMLDivElement>(null);
  useTapElsewhere(area, hovered === null ? null : () => setHovered(null));
  const count = plot.starts.length;
  const largest = shape === 'bars' ? plot.totals : plot.series.flatMap(({ values }) => values);
  const ticks = ticksFor(Math.max(0, ...largest.map((value) => toUnits(value, unit))));
  const top = ticks.at(-1) ?? 1;
  const plotHeight = height - FOOT_HEIGHT;
  const step = Math.max(0, width - AXIS_WIDTH) / Math.max(1, count);
  const y = (value: number): number => plotHeight - (value / top) * (plotHeight - 8);
  const geometry: Geometry = { plot, step, y, unit };
  const every = Math.max(1, Math.ceil(LABELS_EVERY_PX / Math.max(1, step)));
  const point = ({ clientX, currentTarget }: PointerEvent): void => {
    const { left } = currentTarget.getBoundingClientRect();
    setHovered(Math.min(count - 1, Math.max(0, Math.floor((clientX - left) / step))));
  };
  return (
    <div ref={frame} className="relative print:!h-auto" style={{ height }}>
      <svg
        role="img"
        aria-label={label}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        className="block overflow-visible print:h-auto print:w-full"
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={0} x2={width - AXIS_WIDTH} y1={y(tick)} y2={y(tick)} stroke="var(--line)" />
            <text x={width} y={y(tick) + 4} textAnchor="end" fontSize={11.5} fill="var(--muted)">
              {formatTick(tick)}
            </text>
          </g>
        ))}
        {hovered === null ? null : (
          <rect x={hovered * step} y={0} width={step} height={plotHeight} fill="var(--raised)" />
        )}
        {shape === 'bars' ? <Bars {...geometry} /> : <Lines {...geometry} />}
        {plot.starts.map((start, at) =>
          at % every === 0 ? (
            <text key={start} {...placeOfStart(at, step, every)} y={height - 4} fontSize={11.5} fill="var(--muted)">
              {formatStart(start)}
            </text>
          ) : null,
        )}
      </svg>
      <div
        ref={area}
        aria-hidden
        className="absolute top-0 left-0"
        style={{ width: Math.max(0, width - AXIS_WIDTH), height: plotHeight }}
        onPointerDown={point}
        onPointerMove={point}
        // A finger has left as soon as it has tapped.
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && setHovered(null)}
      />
      {hovered === null ? null : <Values {...props} at={hovered} left={(hovered + 0.5) * step} width={width} />}
    </div>
  );
}

/** Below its bar if every bar has one: with few bars it would else stand nearer to the one before. */
function placeOfStart(at: number, step: number, every: number): { readonly x: number; readonly textAnchor?: 'middle' } {
  return every === 1 ? { x: (at + 0.5) * step, textAnchor: 'middle' } : { x: at * step + 2 };
}

/** Calls this when somebody taps beside the area; null waits for nothing. */
function useTapElsewhere(area: RefObject<HTMLElement | null>, onTap: (() => void) | null): void {
  useEffect(() => {
    if (onTap === null) return;
    const listen = ({ target }: Event): void => {
      if (!area.current?.contains(target as Node)) onTap();
    };
    document.addEventListener('pointerdown', listen);
    return () => document.removeEventListener('pointerdown', listen);
  });
}

interface Geometry {
  readonly plot: Plot;
  readonly step: number;
  readonly unit: bigint;
  y(value: number): number;
}

function Bars({ plot, step, unit, y }: Geometry): ReactNode {
  const barWidth = Math.max(1, Math.min(24, step * 0.68));
  return plot.starts.map((start, at) => {
    let below = 0;
    return (
      <g key={start}>
        {plot.series.map(({ name, colour, values }) => {
          const value = toUnits(values[at]!, unit);
          const from = y(below);
          below += value;
          const barHeight = from - y(below);
          if (barHeight <= 0) return null;
          return (
            <rect
              key={name}
              x={at * step + (step - barWidth) / 2}
              y={y(below)}
              width={barWidth}
              height={Math.max(barHeight > 3 ? barHeight - GAP : barHeight, 0.75)}
              rx={barHeight > 4 ? 1.5 : 0}
              fill={colour}
            />
          );
        })}
      </g>
    );
  });
}

function Lines({ plot, step, unit, y }: Geometry): ReactNode {
  return plot.series.map(({ name, colour, values }) => (
    <polyline
      key={name}
      fill="none"
      stroke={colour}
      strokeWidth={1.5}
      strokeLinejoin="round"
      points={values.map((value, at) => `${(at + 0.5) * step},${y(toUnits(value, unit))}`).join(' ')}
    />
  ));
}

interface ValuesProps extends StackedBarsProps {
  readonly at: number;
  readonly left: number;
  readonly width: number;
}

function Values({ plot, at, left, width, formatValue, formatStart }: ValuesProps): ReactNode {
  const side = left > width / 2 ? { right: width - left + 12 } : { left: left + 12 };
  return (
    <div
      data-values
      className="pointer-events-none absolute top-0 z-10 min-w-44 rounded-control border border-line-strong bg-panel px-3 py-2 text-small"
      style={side}
    >
      <p className="flex justify-between gap-6 pb-1 font-semibold">
        <span>{formatStart(plot.starts[at]!)}</span>
        <span>{formatValue(plot.totals[at]!)}</span>
      </p>
      {plot.series.map(({ name, label, colour, values }) => (
        <p key={name} className="flex items-center justify-between gap-6">
          <span className="flex items-center gap-1.5">
            <Dot colour={colour} />
            <span className="max-w-48 truncate">{label}</span>
          </span>
          <span>{formatValue(values[at]!)}</span>
        </p>
      ))}
    </div>
  );
}

function Dot({ colour }: { readonly colour: string }): ReactNode {
  return <span aria-hidden className="size-2 shrink-0 rounded-[2px]" style={{ background: colour }} />;
}

/** Which colour is which series. */
export function Legend({ plot }: { readonly plot: Plot }): ReactNode {
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 text-small text-muted">
      {plot.series.map(({ name, label, colour }) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <Dot colour={colour} />
          <span className="max-w-48 truncate">{label}</span>
        </li>
      ))}
    </ul>
  );
}

function toUnits(value: bigint, unit: bigint): number {
  return Number((value * 1_000_000n) / unit) / 1_000_000;
}

function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const [element, setElement] = useState<HTMLElement | null>(null);
  const observer = useRef<ResizeObserver | null>(null);
  useLayoutEffect(() => {
    if (element === null) return;
    setWidth(element.clientWidth);
    observer.current = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.current.observe(element);
    return () => observer.current?.disconnect();
  }, [element]);
  return [setElement, width];
}
