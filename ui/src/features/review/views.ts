const views = ["conflicts", "unified", "split", "rendered", "structure", "result"] as const;

export type ReviewView = (typeof views)[number];

export function isReviewView(value: unknown): value is ReviewView {
  return views.includes(value as ReviewView);
}
