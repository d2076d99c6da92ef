/** Who runs of a flow that lets only so many of its jobs run at once: see `concurrency` of `FlowDefinition`. */
export interface FlowPlaces {
  /** Until when each holder keeps its place unless it renews it, milliseconds since 1970; by the holder's queue entry. */
  readonly holders: Readonly<Record<string, number>>;
}
