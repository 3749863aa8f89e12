/** The drawing of the program: an earlier line shines through the line written over it. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 1024 1024" aria-hidden="true" className={className}>
      <rect x="64" y="64" width="896" height="896" rx="208" fill="#303a8f" />
      <rect x="256" y="256" width="512" height="128" rx="40" fill="#fbf8f1" />
      <rect x="384" y="512" width="448" height="128" rx="40" fill="#e9a23b" />
      <rect x="256" y="448" width="448" height="128" rx="40" fill="#fbf8f1" />
      <path d="M424 512H704V536A40 40 0 0 1 664 576H384V552A40 40 0 0 1 424 512Z" fill="#f7d79b" />
      <rect x="256" y="704" width="320" height="128" rx="40" fill="#fbf8f1" />
    </svg>
  );
}
