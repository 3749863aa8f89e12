const views = ["conflicts", "unified", "split", "rendered", "result"] as const;

export type ReviewView = (typeof views)[number];

export function isReviewView(value: unknown): value is ReviewView {
  return views.includes(value as ReviewView);
}
